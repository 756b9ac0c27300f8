#include "agents/plan/svg_canvas.h"

#include "agents/plan/plan_words.h"

namespace baton::agents {
namespace {

// Colours also differ in lightness, and a text names each state. There are no CSS variables, because not
// every viewer supports them.
constexpr std::string_view kStyle = R"(
text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-size:12px;fill:#1f2328}
.head{font-size:18px;font-weight:600}
.name{font-size:13px;font-weight:600}
.soft{fill:#59636e}
.page{fill:#ffffff}
.box{fill:#ffffff;stroke:#818b98;stroke-width:1.5}
.frame{fill:#818b98;fill-opacity:.06;stroke:#818b98;stroke-width:1.5}
.dashed{stroke-dasharray:5 4}
.line{fill:none;stroke:#59636e;stroke-width:1.5}
.tip{fill:#59636e}
.bar{fill:none;stroke:#59636e;stroke-width:4;stroke-linecap:round}
.tag{fill:#ffffff;stroke:#818b98}
.mark{fill:none;stroke:#59636e;stroke-width:1.5;stroke-linecap:round}
.dot{fill:#59636e}
.off{opacity:.4}
.tag.off{opacity:1;stroke-opacity:.4}
.working>.box{fill:#b6dcff;stroke:#0969da;stroke-width:2}
.asks>.box,.retries>.box{fill:#ffe9a3;stroke:#9a6700;stroke-width:2}
.done>.box{fill:#c7f0d2;stroke:#1a7f37}
.mixed>.box{fill:#c7f0d2;stroke:#cf222e;stroke-width:2}
.failed>.box{fill:#ffcfca;stroke:#cf222e;stroke-width:2}
.canceled>.box{fill:url(#hatch)}
.skipped>*{opacity:.5}
.working>.frame,.working>.bar{stroke:#0969da}
.asks>.frame,.retries>.frame,.asks>.bar,.retries>.bar{stroke:#9a6700}
.done>.frame,.done>.bar{stroke:#1a7f37}
.failed>.frame,.mixed>.frame,.failed>.bar,.mixed>.bar{stroke:#cf222e}
.hatch-page{fill:#eef1f4}
.hatch-line{stroke:#c3cad2;stroke-width:3}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}
.soft,.tip,.dot{fill:#9198a1}
.page{fill:#0d1117}
.box,.tag{fill:#151b23;stroke:#656c76}
.frame{stroke:#656c76}
.line,.bar,.mark{stroke:#9198a1}
.working>.box{fill:#0c3a75;stroke:#58a6ff}
.asks>.box,.retries>.box{fill:#513d05;stroke:#d29922}
.done>.box{fill:#0f4620;stroke:#3fb950}
.mixed>.box{fill:#0f4620;stroke:#f85149}
.failed>.box{fill:#6b1a1d;stroke:#f85149}
.working>.frame,.working>.bar{stroke:#58a6ff}
.asks>.frame,.retries>.frame,.asks>.bar,.retries>.bar{stroke:#d29922}
.done>.frame,.done>.bar{stroke:#3fb950}
.failed>.frame,.mixed>.frame,.failed>.bar,.mixed>.bar{stroke:#f85149}
.working>.soft,.asks>.soft,.retries>.soft,.done>.soft,.mixed>.soft,.failed>.soft{fill:#c8d1da}
.hatch-page{fill:#1b222b}
.hatch-line{stroke:#2f3842}
}
)";

constexpr std::string_view kHatch = R"svg(<defs><pattern id="hatch" width="8" height="8"
 patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-page" width="8" height="8"/>
<line class="hatch-line" x1="0" y1="0" x2="0" y2="8"/></pattern></defs>)svg";

void attribute(std::string& out, std::string_view name, std::string_view value) {
  out.append(" ").append(name).append("=\"").append(xml_escaped(value)).append("\"");
}

}  // namespace

void SvgCanvas::begin_group(std::string_view classes, std::string_view step, std::string_view kind,
                            std::string_view tooltip) {
  out_ += "<g";
  attribute(out_, "class", classes);
  if (!step.empty()) attribute(out_, "data-step", step);
  attribute(out_, "data-kind", kind);
  out_ += ">";
  if (!tooltip.empty()) out_.append("<title>").append(xml_escaped(tooltip)).append("</title>");
}

void SvgCanvas::number(std::string_view name, int value) {
  attribute(out_, name, std::to_string(value));
}

void SvgCanvas::points(const std::vector<Point>& points) {
  std::string list;
  for (const Point& point : points) {
    if (!list.empty()) list += ' ';
    list += std::to_string(point.x) + "," + std::to_string(point.y);
  }
  attribute(out_, "points", list);
}

void SvgCanvas::rect(std::string_view classes, Point corner, int width, int height, int radius) {
  out_ += "<rect";
  attribute(out_, "class", classes);
  number("x", corner.x);
  number("y", corner.y);
  number("width", width);
  number("height", height);
  number("rx", radius);
  out_ += "/>\n";
}

void SvgCanvas::polygon(std::string_view classes, const std::vector<Point>& corners) {
  out_ += "<polygon";
  attribute(out_, "class", classes);
  points(corners);
  out_ += "/>\n";
}

void SvgCanvas::circle(std::string_view classes, Point centre, int radius) {
  out_ += "<circle";
  attribute(out_, "class", classes);
  number("cx", centre.x);
  number("cy", centre.y);
  number("r", radius);
  out_ += "/>\n";
}

void SvgCanvas::line(std::string_view classes, const std::vector<Point>& through, bool arrow) {
  out_ += "<polyline";
  attribute(out_, "class", classes);
  points(through);
  out_ += "/>\n";
  if (!arrow) return;
  // Arrows point down, but for those of loops, which point to the left.
  const Point tip = through.back(), from = through[through.size() - 2];
  const bool is_off = classes.find("off") != std::string_view::npos;
  const std::string_view style = is_off ? "tip off" : "tip";
  if (from.y == tip.y) return polygon(style, {tip, {tip.x + 8, tip.y - 4}, {tip.x + 8, tip.y + 4}});
  polygon(style, {tip, {tip.x - 4, tip.y - 8}, {tip.x + 4, tip.y - 8}});
}

void SvgCanvas::text(std::string_view classes, Point at, std::string_view text, Anchor anchor) {
  if (text.empty()) return;
  out_ += "<text";
  if (!classes.empty()) attribute(out_, "class", classes);
  number("x", at.x);
  number("y", at.y);
  if (anchor != Anchor::start) attribute(out_, "text-anchor", anchor == Anchor::end ? "end" : "middle");
  out_.append(">").append(xml_escaped(text)).append("</text>\n");
}

std::string SvgCanvas::document(int width, int height, std::string_view label) const {
  const std::string w = std::to_string(width), h = std::to_string(height);
  std::string text = R"(<svg xmlns="http://www.w3.org/2000/svg" role="img")";
  attribute(text, "width", w);
  attribute(text, "height", h);
  attribute(text, "viewBox", "0 0 " + w + " " + h);
  attribute(text, "aria-label", label);
  text.append("><title>").append(xml_escaped(label)).append("</title><style>").append(kStyle);
  text.append("</style>").append(kHatch).append("\n<rect class=\"page\"");
  attribute(text, "width", w);
  attribute(text, "height", h);
  return text.append("/>\n").append(out_).append("</svg>\n");
}

}  // namespace baton::agents
