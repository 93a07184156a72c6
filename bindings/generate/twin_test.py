"""Tests of twin.py; `python3 -m unittest` runs them, and so does the Go test."""

import textwrap
import unittest

import twin


def made(text: str) -> str:
    return twin.twin(textwrap.dedent(text))


class Words(unittest.TestCase):
    def test_every_form_of_waiting_goes(self) -> None:
        for source, want in {
            "async def f(): ...": "def f(): ...",
            "x = await f(await g())": "x = f(g())",
            "async with a as b: ...": "with a as b: ...",
            "async for x in y: ...": "for x in y: ...",
            "z = [x async for x in y]": "z = [x for x in y]",
            "def __aiter__(self): ...": "def __iter__(self): ...",
            "raise StopAsyncIteration": "raise StopIteration",
            "x: AsyncIterator[bytes]": "x: Iterator[bytes]",
            "await x.aclose()": "x.close()",
            "import asyncio": "import asyncio",
            "awaited = 1": "awaited = 1",
            "from .._async.files import Files": "from .._sync.files import Files",
            "from .._engine.async_caller import AsyncCaller": "from .._engine.sync_caller import SyncCaller",
            "from .._generated.methods import FilesMethods": "from .._generated.methods_sync import FilesMethods",
            'x = "await f()"': 'x = "f()"',
        }.items():
            with self.subTest(source):
                self.assertEqual(made(source + "\n"), want + "\n")


class Blocks(unittest.TestCase):
    def test_marked_lines_go_and_their_twins_come(self) -> None:
        source = """\
            class A:
                x = 1

                # async only
                async def only(self):
                    await self.x

                # end
                # sync: y = 2
                async def both(self):
                    # async only
                    z = 1
                    # sync: z = 2
                    # end
                    return z
        """
        want = """\
            class A:
                x = 1

                y = 2
                def both(self):
                    z = 2
                    return z
        """
        self.assertEqual(made(source), textwrap.dedent(want))

    def test_a_block_of_which_nothing_is_left_leaves_no_second_gap(self) -> None:
        self.assertEqual(made("a = 1\n\n# async only\nb = 2\n# end\n\nc = 3\n"), "a = 1\n\nc = 3\n")

    def test_a_block_without_an_end_is_an_error(self) -> None:
        for source in ("# async only\nx = 1\n", "# async only\n# async only\n# end\n"):
            with self.subTest(source), self.assertRaises(SyntaxError):
                made(source)


class Layout(unittest.TestCase):
    def test_what_fits_in_one_line_now_is_joined(self) -> None:
        long = "x" * 100
        source = f"{long} = await f(\n    a, b\n)\n"
        self.assertEqual(made(source), f"{long} = f(a, b)\n")

    def test_what_does_not_fit_or_ends_with_a_comma_or_has_a_comment_stays(self) -> None:
        long = "x" * 120
        for source in (
            f"{long} = f(\n    a, b\n)\n",
            "f(\n    a,\n    b,\n)\n",
            "f(\n    a  # why\n)\n",
            'f(\n    """a\n"""\n)\n',
        ):
            with self.subTest(source):
                self.assertEqual(made(source), source)

    def test_imported_names_are_in_order_again_each_once(self) -> None:
        source = (
            "from a import AsyncIterable, Callable, Iterable\n"
            "from b import (\n    x,\n    aiter,\n    Z,\n)\n"
            "from c import d as e\n"
        )
        want = "from a import Callable, Iterable\nfrom b import (\n    Z,\n    iter,\n    x,\n)\nfrom c import d as e\n"
        self.assertEqual(made(source), want)

    def test_relative_imports_are_in_order_again(self) -> None:
        source = (
            "from ._async.z import Z\nfrom .._engine.async_caller import A\nfrom .._engine.frame import (\n    F,\n)\n"
        )
        want = "from .._engine.frame import (\n    F,\n)\nfrom .._engine.sync_caller import A\nfrom ._sync.z import Z\n"
        self.assertEqual(made(source), want)


if __name__ == "__main__":
    unittest.main()
