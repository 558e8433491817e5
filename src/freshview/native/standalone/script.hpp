// What a script says beside its views: where rows come from, and in which order views are read.
#pragma once

namespace fr {

struct SourceFile {
  int relation;
  const char* path;  // of a CSV file; null where rows come as events
  char delimiter;
};

struct SortColumn {
  int column;
  bool descending, nulls_first;
};

struct ViewOrder {
  int size;
  const SortColumn* column;
};

struct Script {
  const SourceFile* source;  // one for each relation
  const ViewOrder* order;    // one for each view
};

extern const Script script;  // generated

}  // namespace fr
