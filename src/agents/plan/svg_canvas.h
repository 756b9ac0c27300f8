// SvgCanvas: writes the shapes of a plan's picture as SVG, with a style for light and dark pages.
//
// Threads: not thread-safe. Text is escaped; it must be UTF-8 without control characters (fitted()).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace baton::agents {

class SvgCanvas {
 public:
  struct Point {
    int x = 0, y = 0;
  };
  enum class Anchor { start, middle, end };

  // `step` and `tooltip` may be empty. Groups do not nest.
  void begin_group(std::string_view classes, std::string_view step, std::string_view kind,
                   std::string_view tooltip);
  void end_group() { out_ += "</g>\n"; }
  void rect(std::string_view classes, Point corner, int width, int height, int radius);
  void polygon(std::string_view classes, const std::vector<Point>& points);
  void circle(std::string_view classes, Point centre, int radius);
  // Through all points; `arrow`: with a head at the last one.
  void line(std::string_view classes, const std::vector<Point>& points, bool arrow = false);
  void text(std::string_view classes, Point at, std::string_view text, Anchor anchor = Anchor::middle);

  // The document. `label`: for readers that show no pictures.
  std::string document(int width, int height, std::string_view label) const;

 private:
  void number(std::string_view name, int value);
  void points(const std::vector<Point>& points);

  std::string out_;
};

}  // namespace baton::agents
