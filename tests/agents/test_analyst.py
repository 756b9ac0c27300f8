import base64
import unittest

from line_agent import AgentTest, of_type, reply, text, turn

TABLES = {"tables": [
    {"state": "completed", "data": {"table": "jan.csv", "columns": [
        {"name": "sales", "mean": 10, "min": 1, "max": 90, "standardDeviation": 5}, {"name": "city", "type": "text"}]}},
    {"table": "feb.csv", "columns": [{"name": "sales", "mean": 20, "min": 19, "max": 21, "standardDeviation": 1}]}]}


class Analyst(AgentTest):
    agent = "analyst"

    def ask(self, *parts):
        worker = self.start()
        worker.send(turn(*parts))
        return worker.until_end("t1")

    def test_tables_are_compared_by_their_means(self):
        self.assertEqual(reply(self.ask(text("compare"), {"data": TABLES})),
                         "sales: from 10 (jan.csv) to 20 (feb.csv) on average.")

    def test_what_is_far_from_its_mean_stands_out(self):
        lines = self.ask(text("outliers"), {"data": TABLES})
        self.assertIn("jan.csv: sales reaches 90, 16.0 standard deviations", reply(lines))
        self.assertEqual(of_type(lines, "artifact")[0]["artifact"]["parts"][0]["data"], {"found": 1})

    def test_a_page_shows_texts_as_text_and_charts_as_images(self):
        chart = {"raw": base64.b64encode(b"<svg onload='x'/>").decode(), "filename": "<a>.svg", "mediaType": "image/svg+xml"}
        lines = self.ask(text("page"), {"data": {"title": "<T>", "texts": [{"title": "a", "text": "<script>"}]}}, chart)
        page = base64.b64decode(of_type(lines, "artifact")[0]["artifact"]["parts"][0]["raw"]).decode()
        self.assertIn("<h1>&lt;T&gt;</h1>", page)
        self.assertIn("<p>&lt;script&gt;</p>", page)
        self.assertIn('alt="&lt;a&gt;.svg" src="data:image/svg+xml;base64,', page)
        self.assertNotIn("<script>", page)

    def test_what_makes_no_sense_fails_with_a_reason(self):
        self.assertIn("The first word", self.ask(text("dance"))[-1]["error"])
        self.assertIn("tables", self.ask(text("compare"))[-1]["error"])


if __name__ == "__main__":
    unittest.main()
