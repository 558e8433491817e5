/* Views that are kept fresh, as a library for C: open, apply rows, read, close.

   Relations and views go by number; `views.h` beside this file names the numbers of one script.
   Nothing that fails changes anything. A handle is for one thread at a time; any number of them may
   be open. Deletes are believed: rows that were never inserted can be taken away. */
#ifndef FRESHVIEW_H
#define FRESHVIEW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FRESHVIEW_API __attribute__((visibility("default")))

typedef struct freshview freshview;           /* running views */
typedef struct freshview_rows freshview_rows; /* the rows that a view had when it was read */
struct ArrowSchema;                           /* the Arrow C data interface */
struct ArrowArray;

typedef enum {
  FRESHVIEW_INT,
  FRESHVIEW_DECIMAL,   /* a whole number that is divided by 10^scale */
  FRESHVIEW_DOUBLE,
  FRESHVIEW_DATE,      /* days since 1970-01-01 */
  FRESHVIEW_TIMESTAMP, /* microseconds since 1970-01-01 */
  FRESHVIEW_BOOL,      /* 0 or 1 */
  FRESHVIEW_TEXT       /* UTF-8 */
} freshview_kind;

typedef enum {
  FRESHVIEW_OK,
  FRESHVIEW_BAD_CALL,  /* there is no relation, view or column of this number */
  FRESHVIEW_BAD_VALUE, /* a column does not hold a value */
  FRESHVIEW_RANGE,     /* a number of a view would leave its range */
  FRESHVIEW_LATE,      /* a static table, after the first change of a stream */
  FRESHVIEW_MEMORY,    /* there is no memory left; nothing was changed */
  FRESHVIEW_LOST       /* memory ended inside a change: close the handle */
} freshview_code;

typedef struct {
  const char* name;
  freshview_kind kind;
  int scale;    /* of decimals: digits after the point */
  int nullable;
} freshview_column;

typedef struct {
  int is_null;
  int64_t number;   /* of all kinds but doubles and texts; of a decimal the lower 64 bits */
  int64_t high;     /* of a decimal the upper 64 bits: 0, or -1 of a negative one, in most cases */
  double real;
  const char* text; /* need not end in a zero byte */
  size_t size;
} freshview_value;

/* Values on their way in. */
static inline freshview_value freshview_null(void) {
  freshview_value v = {1, 0, 0, 0, 0, 0};
  return v;
}
static inline freshview_value freshview_number(int64_t x) { /* also decimals, dates, timestamps */
  freshview_value v = {0, 0, 0, 0, 0, 0};
  v.number = x;
  v.high = x < 0 ? -1 : 0;
  return v;
}
static inline freshview_value freshview_real(double x) {
  freshview_value v = {0, 0, 0, 0, 0, 0};
  v.real = x;
  return v;
}
static inline freshview_value freshview_text(const char* x) {
  freshview_value v = {0, 0, 0, 0, 0, 0};
  v.text = x;
  v.size = strlen(x);
  return v;
}

/* What there is. Names do not tell upper and lower case apart; -1 and NULL stand for "none". */
FRESHVIEW_API int freshview_relations(void);
FRESHVIEW_API int freshview_find_relation(const char* name);
FRESHVIEW_API const char* freshview_relation_name(int relation);
FRESHVIEW_API int freshview_relation_is_static(int relation);
FRESHVIEW_API int freshview_relation_width(int relation);
FRESHVIEW_API int freshview_relation_column(int relation, int column, freshview_column* out);
FRESHVIEW_API int freshview_views(void);
FRESHVIEW_API int freshview_find_view(const char* name);
FRESHVIEW_API const char* freshview_view_name(int view);
FRESHVIEW_API int freshview_view_width(int view);
FRESHVIEW_API int freshview_view_column(int view, int column, freshview_column* out);

/* Empty views; NULL where there is no memory. */
FRESHVIEW_API freshview* freshview_open(void);
FRESHVIEW_API void freshview_close(freshview*);

/* What the last call that failed has to say, until the next call. */
FRESHVIEW_API const char* freshview_error(const freshview*);

/* Changes give a freshview_code. A row that counts n times is inserted n times, or deleted -n times.
   Static tables come first; the first change of a stream says that they are complete. */
FRESHVIEW_API int freshview_apply_row(freshview*, int relation, const freshview_value* row,
                                      int64_t count);
/* `size` rows, one behind the other, as one change; without counts, every row counts once. */
FRESHVIEW_API int freshview_apply_rows(freshview*, int relation, const freshview_value* rows,
                                       int64_t size, const int64_t* counts);
/* A table in the Arrow C data interface as one change; columns are found by name. The caller
   releases both. */
FRESHVIEW_API int freshview_apply_arrow(freshview*, int relation, const struct ArrowSchema*,
                                        const struct ArrowArray*, const int64_t* counts);

/* The rows of a view by its ORDER BY, ties by the other columns, NULL first; NULL with an error. */
FRESHVIEW_API freshview_rows* freshview_read(freshview*, int view);
FRESHVIEW_API int64_t freshview_rows_size(const freshview_rows*);
FRESHVIEW_API int64_t freshview_rows_count(const freshview_rows*, int64_t row); /* how often it is there */
FRESHVIEW_API int freshview_rows_value(const freshview_rows*, int64_t row, int column,
                                       freshview_value* out); /* texts last as long as the rows */
FRESHVIEW_API void freshview_rows_free(freshview_rows*);
/* The same as an Arrow table, every row as often as it counts; gives a freshview_code. */
FRESHVIEW_API int freshview_read_arrow(freshview*, int view, struct ArrowSchema*,
                                       struct ArrowArray*);

/* Bytes that the maps take. */
FRESHVIEW_API uint64_t freshview_bytes(const freshview*);

#ifdef __cplusplus
}
#endif
#endif
