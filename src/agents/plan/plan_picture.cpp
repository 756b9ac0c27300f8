#include "agents/plan/plan_picture.h"

#include <algorithm>

#include "agents/plan/plan_captions.h"
#include "agents/plan/plan_words.h"
#include "agents/plan/svg_canvas.h"

namespace baton::agents {
namespace {

using StepKind = PlanStep::Kind;
using Point = SvgCanvas::Point;
using Anchor = SvgCanvas::Anchor;

constexpr TextSize kHead{18, true}, kName{13, true}, kSmall{12, false};
constexpr int kMargin = 24, kHeadHeight = 66;
constexpr int kLeafWidth = 220, kLineHeight = 17;
constexpr int kGap = 30;    // between steps, one below the other
constexpr int kAside = 28;  // side by side
constexpr int kPad = 16;    // in a frame
constexpr int kPill = 22, kPillMax = 260;
constexpr int kFrameTextMax = 440;
constexpr int kDiamond = 48, kDiamondHalf = 92, kBranchHead = 62;
constexpr int kBack = 26;  // for the arrow of a loop

// Room around the axis, on which arrows come in and go out.
struct Size {
  int left = 0, right = 0, height = 0;
  int width() const { return left + right; }
};

bool is_default_id(const PlanStep& step) {
  const std::string lead = std::string(name_of(step.kind)) + "-";
  return step.id.starts_with(lead) &&
         step.id.find_first_not_of("0123456789", lead.size()) == std::string::npos;
}

class PlanDrawing {
 public:
  PlanDrawing(const Plan& plan, const PlanPictureRun* run) : plan_(plan), captions_(plan, run) {}

  std::string draw(const std::string& title) {
    const std::string head = fitted(title, kFrameTextMax, kHead), under = captions_.summary();
    const Size root = size_of(plan_.root);
    const int text = std::max(width_of(head, kHead), width_of(under, kSmall));
    const int width = std::max(root.width(), text) + 2 * kMargin;
    const int axis = root.left + (width - root.width()) / 2;
    canvas_.text("head", {kMargin, kMargin + 16}, head, Anchor::start);
    canvas_.text("soft", {kMargin, kMargin + 38}, under, Anchor::start);
    int y = kMargin + kHeadHeight;
    canvas_.circle("dot", {axis, y}, 6);
    canvas_.line("line", {{axis, y}, {axis, y + 6 + kGap}}, true);
    y += 6 + kGap;
    place(plan_.root, axis, y);
    y += root.height;
    canvas_.line("line", {{axis, y}, {axis, y + kGap}}, true);
    canvas_.circle("mark", {axis, y + kGap + 8}, 8);
    canvas_.circle("dot", {axis, y + kGap + 8}, 4);
    return canvas_.document(width, y + kGap + 16 + kMargin, head);
  }

 private:
  bool is_run() const { return captions_.run() != nullptr; }

  void begin(const PlanStep& step) {
    std::string classes = "step";
    if (is_run()) classes.append(" ").append(name_of(captions_.state(step, is_off_)));
    canvas_.begin_group(classes, step.id, name_of(step.kind), captions_.tooltip(step));
  }

  int leaf_height(const PlanStep& step) const {
    const bool has_third = is_run() || !rules_of(step).empty();
    return 14 + (has_third ? 3 : 2) * kLineHeight;  // also of a step with a line less
  }

  // --- sizes ---

  Size size_of(const PlanStep& step) {
    Size size = core_of(step);
    if (!step.compensation) return size;
    const Size undo = undo_size(*step.compensation);
    return {size.left, size.right + kAside + undo.width(), std::max(size.height, undo.height)};
  }

  Size undo_size(const PlanStep& undo) {
    Size size = size_of(undo);
    return {size.left + kPad, size.right + kPad, size.height + kPad + 26};
  }

  const Size& core_of(const PlanStep& step) {
    const auto known = cores_.find(&step);
    return known != cores_.end() ? known->second : cores_.emplace(&step, measured(step)).first->second;
  }

  Size measured(const PlanStep& step) {
    switch (step.kind) {
      case StepKind::agent:
      case StepKind::wait:
      case StepKind::ask:
        break;
      case StepKind::sequence: {
        Size all{0, 0, -kGap};
        for (const auto& one : step.steps) {
          const Size size = size_of(*one);
          all = {std::max(all.left, size.left), std::max(all.right, size.right),
                 all.height + kGap + size.height};
        }
        return all;
      }
      case StepKind::parallel:
        return columns_size(step, 2 * kPill + 2 * kGap);
      case StepKind::route:
        return columns_size(step, kDiamond + kBranchHead + kGap / 2);
      case StepKind::loop:
      case StepKind::map:
        return frame_size(step);
    }
    return {kLeafWidth / 2, kLeafWidth / 2, leaf_height(step)};
  }

  static std::string branch_label(const PlanStep& route, std::size_t branch) {
    const bool is_any = branch >= route.whens.size() || matches_always(route.whens[branch]);
    return fitted(is_any ? "otherwise" : words_for(route.whens[branch]), kPillMax - 20, kSmall);
  }

  static bool matches_always(const Condition& when) {
    return when.test == Condition::Test::all && when.parts.empty();
  }

  static int pill_width(std::string_view text) { return width_of(text, kSmall) + 20; }

  static bool has_empty_branch(const PlanStep& route) {
    if (route.kind != StepKind::route || route.whens.empty()) return false;
    return !matches_always(route.whens.back());
  }

  // The room of each branch; a route that may take none has one more.
  std::vector<Size> columns_of(const PlanStep& step) {
    std::vector<Size> columns;
    for (const auto& one : step.steps) columns.push_back(size_of(*one));
    if (has_empty_branch(step)) columns.push_back({});
    if (step.kind != StepKind::route) return columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const int half = (pill_width(branch_label(step, i)) + 1) / 2;
      columns[i].left = std::max(columns[i].left, half);
      columns[i].right = std::max(columns[i].right, half);
    }
    return columns;
  }

  Size columns_size(const PlanStep& step, int around) {
    int width = -kAside, height = 0;
    for (const Size& column : columns_of(step)) {
      width += kAside + column.width();
      height = std::max(height, column.height);
    }
    width = std::max(width, 2 * kDiamondHalf);
    return {width / 2, width - width / 2, height + around};
  }

  Size frame_size(const PlanStep& step) {
    const Size body = size_of(*step.steps.front());
    int text = width_of(step.id, kName);
    const auto lines = captions_.frame_lines(step, is_off_);
    for (const std::string& line : lines) text = std::max(text, width_of(line, kSmall));
    const int back = step.kind == StepKind::loop ? kBack : 0;
    const int missing = std::min(text, kFrameTextMax) - body.width() - back;
    const int more = std::max(0, missing + 1) / 2;
    const int header = kPad + (static_cast<int>(lines.size()) + 1) * kLineHeight;
    return {body.left + kPad + more, body.right + kPad + more + back, header + kGap + body.height + kGap};
  }

  // --- drawing; `top` is the upper edge, `axis` where the arrow came in ---

  void place(const PlanStep& step, int axis, int top) {
    const Size core = core_of(step), size = size_of(step);
    if (step.compensation) place_undo(*step.compensation, axis + core.right, top, core.height);
    place_core(step, axis, top);
    if (size.height > core.height)
      canvas_.line(line_class(), {{axis, top + core.height}, {axis, top + size.height}});
  }

  void place_undo(const PlanStep& undo, int left, int top, int beside) {
    const Size size = undo_size(undo);
    const int y = top + std::min(beside, size.height) / 2;
    canvas_.line("line dashed", {{left, y}, {left + kAside, y}});
    canvas_.begin_group("undo", {}, "compensation", {});
    canvas_.rect("frame dashed", {left + kAside, top}, size.width(), size.height, 10);
    canvas_.text("soft", {left + kAside + kPad, top + 18}, "undone by", Anchor::start);
    canvas_.end_group();
    place(undo, left + kAside + size.left, top + 26);
  }

  void place_core(const PlanStep& step, int axis, int top) {
    switch (step.kind) {
      case StepKind::agent:
      case StepKind::wait:
      case StepKind::ask:
        return place_leaf(step, axis, top);
      case StepKind::sequence:
        return place_sequence(step, axis, top);
      case StepKind::parallel:
        return place_parallel(step, axis, top);
      case StepKind::route:
        return place_route(step, axis, top);
      case StepKind::loop:
      case StepKind::map:
        return place_frame(step, axis, top);
    }
  }

  void place_leaf(const PlanStep& step, int axis, int top) {
    const int height = leaf_height(step), half = kLeafWidth / 2, middle = top + height / 2;
    begin(step);
    if (step.kind == StepKind::ask) {
      constexpr int kPoint = 14;
      canvas_.polygon("box", {{axis - half, middle},
                              {axis - half + kPoint, top},
                              {axis + half - kPoint, top},
                              {axis + half, middle},
                              {axis + half - kPoint, top + height},
                              {axis - half + kPoint, top + height}});
    } else {
      canvas_.rect("box", {axis - half, top}, kLeafWidth, height,
                   step.kind == StepKind::wait ? height / 2 : 8);
    }
    if (step.kind == StepKind::wait) {
      const Point clock{axis - half + 24, middle};
      canvas_.circle("mark", clock, 9);
      canvas_.line("mark", {{clock.x, clock.y - 5}, clock, {clock.x + 4, clock.y + 2}});
    }
    const int indent = step.kind == StepKind::wait ? 20 : 0, room = kLeafWidth - 24 - 2 * indent;
    const bool is_named = !is_default_id(step);
    const int x = axis + indent / 2;
    const std::string what = words_for(step), tokens = captions_.tokens_of(step);
    const std::string third = captions_.third_line(step, is_off_);
    std::string second = tokens;
    if (is_named) {
      const int beside = tokens.empty() ? 0 : width_of(" · " + tokens, kSmall);
      second = fitted(what, room - beside, kSmall) + (tokens.empty() ? "" : " · " + tokens);
    }
    const int lines = 1 + (second.empty() ? 0 : 1) + (third.empty() ? 0 : 1);
    int y = middle - lines * kLineHeight / 2 + 13;
    canvas_.text("name", {x, y}, fitted(is_named ? step.id : what, room, kName));
    if (!second.empty()) canvas_.text("soft", {x, y += kLineHeight}, second);
    canvas_.text(is_run() ? "" : "soft", {x, y + kLineHeight}, fitted(third, room, kSmall));
    canvas_.end_group();
  }

  void place_sequence(const PlanStep& step, int axis, int top) {
    for (const auto& one : step.steps) {
      place(*one, axis, top);
      top += size_of(*one).height;
      if (one == step.steps.back()) break;
      canvas_.line(line_class(), {{axis, top}, {axis, top + kGap}}, true);
      top += kGap;
    }
  }

  void pill(std::string_view text, int axis, int top) {
    const std::string said = fitted(text, kPillMax - 20, kSmall);
    const int width = pill_width(said);
    canvas_.rect(is_off_ ? "tag off" : "tag", {axis - width / 2, top}, width, kPill, kPill / 2);
    canvas_.text(is_off_ ? "off" : "", {axis, top + 15}, said);
  }

  // Calls `each` with each branch (null: none), its axis and its size.
  template <class Each>
  void for_each_column(const PlanStep& step, int axis, Each&& each) {
    const std::vector<Size> columns = columns_of(step);
    int all = -kAside;
    for (const Size& column : columns) all += kAside + column.width();
    int x = axis - all / 2;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      each(i, i < step.steps.size() ? step.steps[i].get() : nullptr, x + columns[i].left, columns[i]);
      x += columns[i].width() + kAside;
    }
  }

  void place_parallel(const PlanStep& step, int axis, int top) {
    const int bottom = top + core_of(step).height, fork = top + kPill / 2, join = bottom - kPill / 2;
    const int body = top + kPill + kGap;
    int first = axis, last = axis;
    for_each_column(step, axis, [&](std::size_t, const PlanStep* one, int x, const Size& size) {
      canvas_.line(line_class(), {{x, fork}, {x, body}}, true);
      place(*one, x, body);
      canvas_.line(line_class(), {{x, body + size.height}, {x, join}});
      first = std::min(first, x);
      last = std::max(last, x);
    });
    begin(step);
    canvas_.line("bar", {{first - 24, fork}, {last + 24, fork}});
    canvas_.line("bar", {{first - 24, join}, {last + 24, join}});
    const std::string own = is_default_id(step) ? "in parallel" : step.id;
    const std::string most = words_for(step);
    pill(most.empty() ? own : own + ", " + most, axis, top);
    pill("join: " + words_for(step.join), axis, bottom - kPill);
    canvas_.end_group();
  }

  void place_route(const PlanStep& step, int axis, int top) {
    const int bottom = top + core_of(step).height, fork = top + kDiamond + 10;
    const int body = top + kDiamond + kBranchHead;
    int first = axis, last = axis;
    const StepStanding& now = captions_.standing(step);
    const bool is_chosen = now.places > now.count(StepState::idle);
    for_each_column(step, axis, [&](std::size_t i, const PlanStep* one, int x, const Size& size) {
      first = std::min(first, x);
      last = std::max(last, x);
      const bool was_off = is_off_;
      is_off_ = is_off_ || (is_chosen && !is_taken(step, one));
      canvas_.line(line_class(), {{x, fork}, {x, one == nullptr ? bottom : body}}, one != nullptr);
      if (one != nullptr) place(*one, x, body);
      if (one != nullptr) canvas_.line(line_class(), {{x, body + size.height}, {x, bottom}});
      pill(branch_label(step, i), x, fork + 8);
      is_off_ = was_off;
    });
    canvas_.line(line_class(), {{axis, top + kDiamond}, {axis, fork}});
    canvas_.line(line_class(), {{first, fork}, {last, fork}});
    canvas_.line(line_class(), {{first, bottom}, {last, bottom}});
    begin(step);
    canvas_.polygon("box", {{axis, top},
                            {axis + kDiamondHalf, top + kDiamond / 2},
                            {axis, top + kDiamond},
                            {axis - kDiamondHalf, top + kDiamond / 2}});
    const std::string own = is_default_id(step) ? "route" : step.id;
    canvas_.text("name", {axis, top + kDiamond / 2 + 5}, fitted(own, kDiamondHalf + 14, kName));
    canvas_.end_group();
  }

  // Whether the branch has been taken anywhere; null: none of the branches.
  bool is_taken(const PlanStep& route, const PlanStep* branch) const {
    if (branch != nullptr) return captions_.standing(*branch).places > 0;
    int taken = captions_.standing(route).count(StepState::idle);
    for (const auto& one : route.steps) taken += captions_.standing(*one).places;
    return taken < captions_.standing(route).places;
  }

  void place_frame(const PlanStep& step, int axis, int top) {
    const Size size = core_of(step);
    const PlanStep& body = *step.steps.front();
    const Size inner = size_of(body);
    const int left = axis - size.left, right = axis + size.right, bottom = top + size.height;
    begin(step);
    canvas_.rect("frame", {left, top}, size.width(), size.height, 10);
    int y = top + 22;
    const int room = size.width() - 2 * kPad;
    canvas_.text("name", {left + kPad, y},
                 fitted(is_default_id(step) ? name_of(step.kind) : step.id, room, kName), Anchor::start);
    for (const std::string& line : captions_.frame_lines(step, is_off_)) {
      y += kLineHeight;
      canvas_.text("soft", {left + kPad, y}, fitted(line, room, kSmall), Anchor::start);
    }
    canvas_.end_group();
    const int under = bottom - kGap - inner.height;
    canvas_.line(line_class(), {{axis, under - kGap + 8}, {axis, under}}, true);
    place(body, axis, under);
    canvas_.line(line_class(), {{axis, bottom - kGap}, {axis, bottom}});
    if (step.kind != StepKind::loop) return;
    const int x = right - kPad;
    canvas_.line(line_class(),
                 {{axis, bottom - 12}, {x, bottom - 12}, {x, under - kGap + 14}, {axis, under - kGap + 14}},
                 true);
  }

  std::string_view line_class() const { return is_off_ ? "line off" : "line"; }

  const Plan& plan_;
  const PlanCaptions captions_;
  std::map<const PlanStep*, Size> cores_;
  SvgCanvas canvas_;
  bool is_off_ = false;  // in a branch that was not taken
};

}  // namespace

std::string plan_picture(const Plan& plan, const std::string& title, const PlanPictureRun* run) {
  return PlanDrawing(plan, run).draw(title);
}

}  // namespace baton::agents
