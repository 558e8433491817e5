// A ring for the listings of chapter 4: count, sum.
struct Ring {
    long count;
    double sum;
    static Ring zero;
    Ring(long c, double s) : count(c), sum(s) {}
    Ring() : count(0), sum(0) {}
    Ring& operator+=(const Ring& r) {
        count += r.count;
        sum += r.sum;
        return *this;
    }
};
Ring Ring::zero = Ring(0, 0);
Ring operator*(const Ring& l, const Ring& r) {
    return Ring(l.count * r.count, l.sum * r.count + r.sum * l.count);
}
Ring operator*(int alpha, const Ring& r) { return Ring(alpha * r.count, alpha * r.sum); }
Ring operator*(double alpha, const Ring& r) { return Ring(alpha * r.count, alpha * r.sum); }
Ring f_A(int a) { return Ring(1, a); }
Ring f_B(double b) { return Ring(1, b); }
Ring f_F(double f) { return Ring(1, f); }
Ring f_D(int d) { return Ring(1, d); }
