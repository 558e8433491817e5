// A program that reads the streams of a script and prints its views, through `freshview.h` alone.
#include <time.h>

#include "csv.hpp"
#include "script.hpp"

using namespace fr;
using namespace fr::edge;

namespace {

const char* const USAGE =
    "usage: views [--data FOLDER] [--events FILE] [--batch ROWS] [--view NAME] [--stats]\n"
    "  --data    where the paths of FROM FILE begin; the current folder by default\n"
    "  --events  rows as lines RELATION,VALUE,... (a row that goes: -RELATION,VALUE,...);\n"
    "            - is standard input, which is read where a stream has no file\n"
    "  --batch   how many rows are one change; 1000 by default\n"
    "  --view    print this view only, without its name\n"
    "  --stats   tell rows, seconds and bytes on standard error\n";

struct Options {
  const char *data = "", *events = nullptr, *view = nullptr;
  i64 batch = 1000;
  bool stats = false;
};

[[noreturn]] void stop(const char* form, const char* word, const char* other = "") {
  fprintf(stderr, "freshview: ");
  fprintf(stderr, form, word, other);
  fputc('\n', stderr);
  exit(2);
}

Options options_of(int count, char** words) {
  Options out;
  for (int i = 1; i < count; i++) {
    auto is = [&](const char* name) { return !strcmp(words[i], name); };
    if (is("--help")) exit((fputs(USAGE, stdout), 0));
    if (is("--stats")) {
      out.stats = true;
      continue;
    }
    const char** texts[] = {&out.data, &out.events, &out.view};
    const char* names[] = {"--data", "--events", "--view"};
    const int at = is(names[0]) ? 0 : is(names[1]) ? 1 : is(names[2]) ? 2 : is("--batch") ? 3 : -1;
    if (at < 0 || i + 1 == count) exit((fputs(USAGE, stderr), 2));
    if (at < 3) *texts[at] = words[++i];
    else out.batch = atoll(words[++i]);
  }
  if (out.batch < 1) stop("--batch needs a positive number%s%s", "");
  return out;
}

// The rows of one change on their way in: values in one array, texts behind each other.
struct Rows {
  freshview* views;
  int relation = -1, width = 0;
  freshview_column* column = nullptr;
  freshview_value* value = nullptr;
  i64* count = nullptr;
  i64 size = 0, room = 0, total = 0;
  char* text = nullptr;
  size_t used = 0, text_room = 0;

  void start(freshview* x, int number, i64 batch) {
    views = x;
    relation = number;
    width = freshview_relation_width(number);
    column = static_cast<freshview_column*>(calloc(size_t(width) + 1, sizeof *column));
    value = static_cast<freshview_value*>(calloc(size_t(width * batch) + 1, sizeof *value));
    count = static_cast<i64*>(calloc(size_t(batch), sizeof *count));
    if (!column || !value || !count) stop("not enough memory for a batch%s%s", "");
    room = batch;
    for (int i = 0; i < width; i++) freshview_relation_column(number, i, &column[i]);
  }

  void close() {
    free(column);
    free(value);
    free(count);
    free(text);
  }

  // The fields of a record from one on, as one more row.
  void add(const CsvReader& in, const char* file, int first, i64 sign) {
    int fields = in.size - first;
    if (fields == width + 1 && !in.field(in.size - 1).size) fields--;
    if (fields != width) refuse(in, file, "a row of '%s' has another number of fields%s", "");
    freshview_value* row = value + size * width;
    for (int i = 0; i < width; i++) {
      if (!read_field(in.field(first + i), column[i], row[i]))
        refuse(in, file, "'%s' cannot hold what stands in column %s", column[i].name);
      if (column[i].kind == FRESHVIEW_TEXT && !row[i].is_null) keep(row[i]);
    }
    count[size++] = sign;
    if (size == room) apply();
  }

  void apply() {
    if (!size) return;
    size_t at = 0;  // only now: the texts may have moved while they were added
    for (i64 i = 0; used && i < size * width; i++) {
      if (column[i % width].kind != FRESHVIEW_TEXT || value[i].is_null) continue;
      value[i].text = text + at;
      at += value[i].size;
    }
    if (freshview_apply_rows(views, relation, value, size, count)) stop("%s%s", freshview_error(views));
    total += size;
    size = 0;
    used = 0;
  }

 private:
  void keep(const freshview_value& v) {
    if (used + v.size > text_room) {
      text_room = (used + v.size) * 2 + 4096;
      text = static_cast<char*>(realloc(text, text_room));
      if (!text) stop("not enough memory for a batch%s%s", "");
    }
    if (v.size) memcpy(text + used, v.text, v.size);
    used += v.size;
  }
  [[noreturn]] void refuse(const CsvReader& in, const char* file, const char* form, const char* word) {
    fprintf(stderr, "freshview: %s:%lld: ", file, (long long)in.line);
    fprintf(stderr, form, freshview_relation_name(relation), word);
    fputc('\n', stderr);
    exit(2);
  }
};

void check_end(const CsvReader& in, const char* file) {
  if (!in.problem) return;
  fprintf(stderr, "freshview: %s:%lld: %s\n", file, (long long)in.line, in.problem);
  exit(2);
}

FILE* open_file(const char* folder, const char* path, char (&full)[4096]) {
  const bool apart = path[0] != '/' && folder[0];
  snprintf(full, sizeof full, "%s%s%s", apart ? folder : "", apart ? "/" : "", path);
  FILE* file = fopen(full, "rb");
  if (!file) stop("cannot read '%s': %s", full, strerror(errno));
  return file;
}

struct Source {
  CsvReader in;
  char path[4096];
};

// Static tables first; then the streams in turns of a batch, as live ones would come.
void read_files(const Options& o, Rows* rows) {
  const int relations = freshview_relations();
  Source* sources = static_cast<Source*>(calloc(size_t(relations) + 1, sizeof(Source)));
  if (!sources) stop("not enough memory for the sources%s%s", "");
  for (int turn = 0; turn < 2; turn++) {
    int open = 0;
    for (int i = 0; i < relations; i++) {
      const SourceFile& s = script.source[i];
      if (!s.path || freshview_relation_is_static(i) != !turn) continue;
      sources[i].in = CsvReader();
      sources[i].in.delimiter = s.delimiter;
      sources[i].in.file = open_file(o.data, s.path, sources[i].path);
      open++;
    }
    while (open) {
      for (int i = 0; i < relations; i++) {
        CsvReader& in = sources[i].in;
        i64 left = in.file ? o.batch : 0;
        for (; left && in.next(); left--) rows[i].add(in, sources[i].path, 0, 1);
        if (!in.file) continue;
        rows[i].apply();
        if (!left) continue;
        check_end(in, sources[i].path);
        in.close();
        open--;
      }
    }
  }
  free(sources);
}

// Lines of events: those of one relation that follow each other are one change.
void read_events(const char* path, Rows* rows) {
  char full[4096] = "standard input";
  CsvReader in;
  in.file = strcmp(path, "-") ? open_file("", path, full) : stdin;
  int last = -1;
  while (in.next()) {
    Str name = in.field(0);
    const i64 sign = name.size && name.at[0] == '-' ? -1 : 1;
    if (sign < 0) name = Str{name.at + 1, name.size - 1};
    char word[200];
    snprintf(word, sizeof word, "%.*s", int(name.size), name.at);
    const int relation = freshview_find_relation(word);
    if (relation < 0) stop("no view reads a relation '%s'%s", word);
    if (last >= 0 && last != relation) rows[last].apply();
    rows[last = relation].add(in, full, 1, sign);
  }
  check_end(in, full);
  if (last >= 0) rows[last].apply();
  in.close();
}

void print_view(freshview* views, int view) {
  freshview_rows* rows = freshview_read(views, view);
  if (!rows) stop("%s%s", freshview_error(views));
  const int width = freshview_view_width(view);
  freshview_column column;
  freshview_value value;
  for (int c = 0; c < width; c++) {
    freshview_view_column(view, c, &column);
    if (c) putchar(',');
    print_text(stdout, Str{column.name, u32(strlen(column.name))});
  }
  putchar('\n');
  for (int64_t i = 0; i < freshview_rows_size(rows); i++) {
    for (int64_t n = freshview_rows_count(rows, i); n-- > 0;) {
      for (int c = 0; c < width; c++) {
        freshview_view_column(view, c, &column);
        freshview_rows_value(rows, i, c, &value);
        if (c) putchar(',');
        else if (width == 1 && (value.is_null || (column.kind == FRESHVIEW_TEXT && !value.size))) fputs("\"\"", stdout);
        print_value(stdout, column, value);
      }
      putchar('\n');
    }
  }
  freshview_rows_free(rows);
}

f64 cpu_seconds() { return f64(clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int count, char** words) {
  const Options o = options_of(count, words);
  const int shown = o.view ? freshview_find_view(o.view) : -1;
  if (o.view && shown < 0) stop("there is no view '%s'%s", o.view);
  freshview* views = freshview_open();
  if (!views) stop("not enough memory for the views%s%s", "");
  const int relations = freshview_relations();
  Rows* rows = static_cast<Rows*>(calloc(size_t(relations) + 1, sizeof(Rows)));
  if (!rows) stop("not enough memory for a batch%s%s", "");
  bool waits = false;  // whether some stream has no file
  for (int i = 0; i < relations; i++) {
    rows[i].start(views, i, o.batch);
    waits |= !script.source[i].path;
  }
  const f64 start = cpu_seconds();
  read_files(o, rows);
  if (o.events || waits) read_events(o.events ? o.events : "-", rows);
  const f64 seconds = cpu_seconds() - start;
  for (int view = 0; view < freshview_views(); view++) {
    if (o.view && view != shown) continue;
    if (!o.view) printf("%s-- %s\n", view ? "\n" : "", freshview_view_name(view));
    print_view(views, view);
  }
  i64 total = 0;
  for (int i = 0; i < relations; i++) total += rows[i].total;
  if (o.stats)
    fprintf(stderr, "%lld rows, %.3f s of CPU with parsing, %llu bytes\n", (long long)total, seconds,
            (unsigned long long)freshview_bytes(views));
  for (int i = 0; i < relations; i++) rows[i].close();
  free(rows);
  freshview_close(views);
  return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
