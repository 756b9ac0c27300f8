import base64
import math
import os
import statistics
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from line_agent import AgentTest, of_type, raw, text, turn

SVG = "{http://www.w3.org/2000/svg}"


class TableReportTest(AgentTest):
    agent = "table-report"

    def report(self, *parts, env=None):
        """Returns the statistics and the chart of a valid table."""
        lines = self.run_turn(turn(*parts), env)
        self.assertEqual(lines[-1]["type"], "done", lines[-1])
        data, chart = (line["artifact"]["parts"][0] for line in of_type(lines, "artifact"))
        self.assertEqual((chart["filename"], chart["mediaType"]), ("chart.svg", "image/svg+xml"))
        return data["data"], ElementTree.fromstring(base64.b64decode(chart["raw"], validate=True))

    def column(self, *cells, name="x"):
        return self.report(raw("\n".join((f"{name},k", *(f"{cell},k" for cell in cells))).encode()))[0]["columns"][0]

    def assert_fails(self, expected, *parts, env=None):
        lines = self.run_turn(turn(*parts), env)
        self.assertEqual([line["type"] for line in lines if line["type"] != "status"], ["fail"])
        self.assertRegex(lines[-1]["error"], expected)


class Statistics(TableReportTest):
    def test_each_column_has_its_statistics(self):
        values = [3.5, -1.25, 10, 4, 4, 1e6, 0.125]
        column = self.column(*values, "", "NA")
        self.assertEqual((column["type"], column["count"], column["missing"], column["distinct"]), ("number", 7, 2, 6))
        self.assertEqual((column["min"], column["max"], column["median"]), (-1.25, 1e6, 4))
        self.assertTrue(math.isclose(column["mean"], statistics.fmean(values)))
        self.assertTrue(math.isclose(column["standardDeviation"], statistics.stdev(values)))

    def test_whole_numbers_are_integers(self):
        column = self.column(1, 2, 4, 8)
        self.assertEqual((column["type"], column["min"], column["max"], column["median"]), ("integer", 1, 8, 3))
        self.assertIsInstance(column["min"], int)

    def test_one_word_among_numbers_makes_a_text_column(self):
        column = self.column(1, "two", 3)
        self.assertEqual((column["type"], column["min"], column["max"]), ("text", "1", "two"))
        self.assertNotIn("mean", column)

    def test_what_only_python_takes_for_a_number_is_text(self):
        for cell in ("inf", "-Infinity", "1_000", "1e400", "NAN", "1e200", "0x10"):
            with self.subTest(cell=cell):
                self.assertEqual(self.column(cell, 2)["type"], "text")

    def test_large_numbers_far_from_zero_keep_their_deviation(self):
        column = self.column(*(1e9 + value for value in (4, 7, 13, 16)))
        self.assertEqual((column["mean"], column["standardDeviation"]), (1e9 + 10, math.sqrt(30)))

    def test_an_empty_column_and_a_single_value_have_no_deviation(self):
        self.assertEqual(self.column("", "")["type"], "empty")
        self.assertNotIn("standardDeviation", self.column(5))

    def test_distinct_and_median_say_when_they_are_bounded(self):
        rows = "\n".join(f"{value},k" for value in range(100_001))
        data, _ = self.report(raw(f"x,k\n{rows}\n".encode()))
        column = data["columns"][0]
        self.assertEqual((column["distinctAtLeast"], column["mean"]), (10_000, 50_000))
        self.assertNotIn("distinct", column)
        self.assertNotIn("median", column)
        self.assertEqual(len(data["notes"]), 2)
        self.assertTrue(math.isclose(column["standardDeviation"], statistics.stdev(range(100_001))))

    def test_a_table_by_text_by_bytes_and_by_uri_gives_the_same(self):
        content = "a;b\n1;x\n2;y\n"
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "t.csv").write_text(content)
            by_uri, _ = self.report({"url": "file:t.csv"}, env={"TABLE_REPORT_DIR": folder})
        by_text, _ = self.report(text(content))
        by_bytes, _ = self.report(text("please"), raw(content.encode(), "t.csv"))
        self.assertEqual(by_uri, by_bytes)
        self.assertEqual(by_text["columns"], by_bytes["columns"])
        self.assertEqual(by_bytes["table"], "t.csv")

    def test_the_delimiter_is_found_out(self):
        for delimiter in ",;\t|":
            with self.subTest(delimiter=delimiter):
                data, _ = self.report(raw(f'a{delimiter}"b,;|"{delimiter}c\n1{delimiter}2{delimiter}3\n'.encode()))
                self.assertEqual((data["delimiter"], len(data["columns"])), (delimiter, 3))

    def test_a_single_column_needs_no_delimiter(self):
        data, _ = self.report(text("n\n1\n\n2\n"))
        self.assertEqual((data["rows"], data["columns"][0]["mean"]), (2, 1.5))

    def test_quotes_line_ends_and_byte_order_mark_are_understood(self):
        for content in (b'\xef\xbb\xbfa,b\r\n"x, ""y""\r\nz",1\r\n', b"a,b\rq,1\r", b"a,b\nq,1"):
            data, _ = self.report(raw(content))
            self.assertEqual([column["name"] for column in data["columns"]], ["a", "b"])
            self.assertEqual(data["rows"], 1)

    def test_progress_is_told_and_rises(self):
        rows = "".join(f"{value},{value}\n" for value in range(400_000))
        lines = of_type(self.run_turn(turn(raw(f"a,b\n{rows}".encode()))), "status")
        progress = [line["progress"] for line in lines]
        self.assertEqual((progress[0], progress[-1]), (0.0, 1.0))
        self.assertEqual(progress, sorted(progress))
        self.assertGreater(len(progress), 5)
        self.assertLessEqual(len(progress), 20)


class Chart(TableReportTest):
    def test_numbers_are_bars(self):
        _, svg = self.report(text("city,a,b\nOslo,1,-5\nBergen,3,-7\n"))
        texts = [element.text for element in svg.iter(f"{SVG}text")]
        self.assertLessEqual({"a", "b", "2", "-6"}, set(texts))
        heights = [float(element.get("height")) for element in svg.iter(f"{SVG}rect")][1:]
        self.assertEqual(heights, [60.0, 180.0])

    def test_without_numbers_the_values_are_counted(self):
        _, svg = self.report(text("a,b\nx,y\nz,\n"))
        self.assertIn("Values in each column", [element.text for element in svg.iter(f"{SVG}text")])

    def test_zero_alone_can_be_drawn(self):
        self.report(text("a,b\n0,0\n"))

    def test_labels_cannot_break_the_xml(self):
        name = '</text><script>&"\'\x01\x1b\ufffe'
        _, svg = self.report(raw(f'"{name.replace(chr(34), chr(34) * 2)}",b\n1,2\n'.encode()))
        self.assertEqual(list(svg.iter(f"{SVG}script")), [])
        self.assertIn("</text><script>&", "".join(svg.itertext()))

    def test_texts_that_look_like_formulas_are_made_harmless(self):
        data, _ = self.report(raw(b"=SUM(A1),@b\n-cmd,+x\n=a,@y\n", "=evil.csv"))
        shown = [data["table"]]
        for column in data["columns"]:
            shown += [column["name"], column["min"], column["max"]]
        self.assertEqual(shown, ["'=evil.csv", "'=SUM(A1)", "'-cmd", "'=a", "'@b", "'+x", "'@y"])

    def test_long_texts_are_shortened(self):
        column = self.column("w" * 50_000, name="n" * 50_000)
        self.assertLess(max(len(column["name"]), len(column["max"])), 110)


class BrokenTables(TableReportTest):
    def test_each_names_the_row_and_the_reason(self):
        cases = [
            (b"a,b\n1,2\n3\n", "Row 3 has 1 cell, but the header has 2"),
            (b"a,b\n1,2\n\n3,4,5\n", "Row 4 has 3 cells, but the header has 2"),
            (b'a,b\n1,2\n"3,4\n5,6\n', "Row 3: a quoted cell is not closed"),
            (b'a,b\n"1"x,2\n', "Row 2: text follows the closing quote"),
            (b"a,b\n1,2\n3,\xff\n", "Row 3: not UTF-8 text .byte 0xff"),
            (b"a,b\r1,2\r3,\xff\r", "Row 3: not UTF-8 text"),
            (b"\x89PNG\r\n\x1a\n\x00\x00", "Row 1: not UTF-8 text .byte 0x89"),
            (b"a,b\n1,\x00\n", "Row 2: a NUL byte"),
            (b"a,b\n" + b"1,2\n" * 200_000 + b"3,\xc3\n", "Row 200002: not UTF-8"),
            ("a,b\n1,2\n".encode("utf-16"), "Row 1: UTF-16 text; save the table as UTF-8"),
            (b"", "The table is empty"),
            (b"\n\r\n\n", "The table is empty"),
            (b"\xef\xbb\xbf", "The table is empty"),
            (b"a,b\n", "a header but no rows"),
            (b"a," * 1000 + b"a\n", "1001 columns, more than the 1000"),
            (b'a,b\n1,2\n"' + b"x\n" * 1_500_000, "Row 3: longer than 1 MiB; is a quoted cell not closed"),
            (b"x" * 3_000_000, "Row 1: longer than 1 MiB"),
            (b"\n" + b"\x00" * 2_000_000, "Row 2: "),
        ]
        for content, expected in cases:
            with self.subTest(expected=expected):
                self.assert_fails(expected, raw(content))

    def test_bytes_that_are_no_base64_are_a_clear_failure(self):
        for content in ("!!!", "YQ", "YQ==YQ=="):
            self.assert_fails("not valid base64", {"raw": content})

    def test_text_that_is_no_table_is_a_clear_failure(self):
        self.assert_fails("a header but no rows", text("please analyse"))
        self.assert_fails("empty", text(""))
        self.assert_fails("no table", {"data": {}})
        self.assert_fails("no table")

    def test_two_files_are_a_clear_failure(self):
        self.assert_fails("One table at a time.*2 files", raw(b"a\n1\n"), {"url": "file:sales.csv"})

    def test_a_turn_that_is_not_understood_is_a_clear_failure(self):
        for part in ({"raw": 3}, {"url": 3}):
            self.assert_fails("The agent failed; for details, see the log for task k1", part)


class FilesByUri(TableReportTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.allowed = self.root / "allowed"
        self.allowed.mkdir()
        self.env = {"TABLE_REPORT_DIR": str(self.allowed)}
        (self.allowed / "my table.csv").write_text("a,b\n1,2\n")
        (self.root / "secret.csv").write_text("a,b\n1,2\n")

    def assert_refused(self, uri, expected="outside the directory"):
        with self.subTest(uri=uri):
            self.assert_fails(expected, {"url": uri}, env=self.env)

    def test_the_cards_own_directory_holds_the_sample(self):
        data, _ = self.report({"url": "file:sales.csv"})
        self.assertEqual((data["rows"], [column["type"] for column in data["columns"]]),
                         (12, ["text", "text", "integer", "number", "integer"]))

    def test_absolute_local_and_relative_uris_are_read(self):
        path = f"{self.allowed}/my%20table.csv"
        (self.allowed / "link.csv").symlink_to("my table.csv")
        for uri in (f"file://{path}", f"file://localhost{path}", f"FILE:{path}", "file:my%20table.csv", "file:link.csv",
                    "file:../allowed/my%20table.csv"):
            with self.subTest(uri=uri):
                self.assertEqual(self.report({"url": uri}, env=self.env)[0]["rows"], 1)

    def test_dots_links_and_absolute_paths_do_not_lead_outside(self):
        (self.allowed / "link.csv").symlink_to(self.root / "secret.csv")
        (self.allowed / "up").symlink_to(self.root)
        for uri in ("file:../secret.csv", "file:%2e%2e/secret.csv", f"file://{self.root}/secret.csv", "file:link.csv",
                    f"file://{self.allowed}/../secret.csv", "file:up/secret.csv", "file:///etc/passwd",
                    f"file://{self.allowed}-other/t.csv", "file:///"):
            self.assert_refused(uri)

    def test_whether_a_file_outside_is_there_cannot_be_told(self):
        self.assert_refused("file:../nothing.csv")

    def test_other_schemes_and_forms_are_refused(self):
        for scheme in ("http", "https", "ftp", "data"):
            self.assert_refused(f"{scheme}://example.com/t.csv", f"begin with file:.*not {scheme}")
        self.assert_refused(f"{self.allowed}/my table.csv", "begin with file:")
        self.assert_refused("file://example.com/t.csv", "must have a path and nothing else")
        self.assert_refused("file:t.csv?x=1", "must have a path and nothing else")
        self.assert_refused("file://[", "not valid")
        self.assert_refused("file:a%00b", "not valid")
        self.assert_refused("file:%ff", "not valid")

    def test_what_is_no_file_is_a_clear_failure(self):
        os.mkfifo(self.allowed / "pipe")
        (self.allowed / "ring").symlink_to("ring")
        self.assert_refused("file:nothing.csv", "no readable file")
        self.assert_refused("file:" + "n" * 5000, "no readable file|not valid")
        self.assert_refused("file:pipe", "not name a regular file")
        self.assert_refused("file:.", "not name a regular file|no readable file")
        self.assert_refused("file:ring", "not valid|no readable file")

    def write_large(self, size):
        path = self.allowed / "large.csv"
        rows = "".join(f"{number},{number % 97},{number / 7:.3f},\"note, {number}\"\n" for number in range(1000))
        with path.open("w") as file:
            file.write("id,group,value,note\n")
            count = size // len(rows)
            for _ in range(count):
                file.write(rows)
        return count * 1000

    def test_a_large_file_needs_little_memory(self):
        rows = self.write_large(5_000_000)
        running = self.start(self.env)
        running.send(turn({"url": "file:large.csv"}))
        lines = running.until_end()
        running.end_input()
        self.assertEqual(running.wait(), 0)
        self.assertEqual(of_type(lines, "artifact")[0]["artifact"]["parts"][0]["data"]["rows"], rows)
        self.assertGreater(running.memory_max_kib, 1024)
        self.assertLess(running.memory_max_kib, 64 * 1024)

    def test_cancel_stops_in_the_middle(self):
        self.write_large(50_000_000)
        running = self.start(self.env)
        running.send(turn({"url": "file:large.csv"}))
        self.assertEqual(running.line()["type"], "status")
        running.send({"type": "cancel", "turn": "t1"})
        lines = running.until_end()
        self.assertEqual(lines[-1], {"type": "fail", "turn": "t1", "error": "The turn was canceled."})
        self.assertEqual(of_type(lines, "artifact"), [])
        running.end_input()
        self.assertEqual(running.wait(), 0)

    def test_other_lines_and_the_end_of_input_do_not_stop_it(self):
        self.write_large(1_000_000)
        running = self.start(self.env)
        running.send(turn({"url": "file:large.csv"}))
        running.send(b'{"type":"later"}')
        running.send(b"garbage")
        running.process.stdin.close()
        self.assertEqual(running.until_end()[-1]["type"], "done")


if __name__ == "__main__":
    unittest.main()
