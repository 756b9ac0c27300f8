#include "agents/remote/errand.h"

#include <doctest/doctest.h>

namespace errand_test {

using namespace baton;
using agents::Errand;
using agents::Turn;

namespace {

Turn turn_of(const std::string& id, const std::string& message, const std::string& ask = "") {
  Turn turn;
  turn.id = id;
  turn.message.id.value = message;
  turn.resume_ask = ask;
  return turn;
}

}  // namespace

TEST_CASE("Errand: the answer to a question goes to the task there, whatever its id looks like") {
  const Turn asked = turn_of("t1", "m1");
  for (const std::string there : {"job-7", "job?id=7", "a/b?c", "100%", "a%2Fb", "f\xC3\xBCnf"}) {
    const std::string ask = Errand(asked).id_of_question({there});
    const Turn answering = turn_of("t2", "m2", ask);
    const Errand errand(answering);
    CHECK(errand.answers().value == there);
    CHECK_FALSE(errand.is_about_resending());
    CHECK(agents::task_of_question(ask).value == there);
    // The answer may have to be sent again.
    const std::string resending = errand.id_of_resending();
    const Turn again = turn_of("t3", "m3", resending);
    CHECK(Errand(again).is_about_resending());
    CHECK(Errand(again).answers().value == there);
    CHECK(Errand(again).id_of_resending() == resending);
    CHECK(agents::task_of_question(resending).value == there);
  }
}

TEST_CASE("Errand: questions of earlier versions, whose ids have the task as it is, can be answered") {
  const std::string uuid = "0197f2a4-11aa-7cc2-b4f6-0b8d6a5c1e01";
  const Turn asked = turn_of("t1", "m1");
  CHECK(Errand(asked).id_of_question({uuid}) == "t1/" + uuid);
  for (const std::string there : {uuid.c_str(), "job:7", "a/b", "100%", "a%2fb", "50%25 off"}) {
    const Turn answering = turn_of("t2", "m2", "t1/" + there);
    CHECK(Errand(answering).answers().value == there);
    const Turn again = turn_of("t2", "m2", "t1/" + there + "?m1");
    CHECK(Errand(again).answers().value == there);
    CHECK(Errand(again).is_about_resending());
  }
}

}  // namespace errand_test
