def _sandbox_prelude():
    import sys

    shell = get_ipython()
    kernel = getattr(shell, "kernel", None)

    # A slow client slows the program down: nothing that is published is dropped,
    # and what waits is bounded.
    def slow_down():
        import os
        import threading

        import zmq
        from ipykernel.iostream import OutStream

        thread, main = kernel.iopub_thread, os.getpid()

        def keep_all():
            thread.socket.setsockopt(zmq.XPUB_NODROP, 1)
            thread.socket.setsockopt(zmq.SNDHWM, 32)

        thread.schedule(keep_all)
        limit, schedule = 1 << 20, OutStream._schedule_flush

        # Called after each write; the write itself is patched by every cell.
        def bounded(self):
            schedule(self)
            try:
                waiting = sum([b.tell() for b in self._buffers.values()])
            except (RuntimeError, ValueError):
                return  # the other thread is sending them
            if waiting > limit and os.getpid() == main:
                if threading.current_thread() is not thread.thread:
                    self.flush()

        OutStream._schedule_flush = bounded

    # What was shown is not kept: the history would hold all of it for ever.
    def forget_outputs():
        from collections import defaultdict

        class Nothing(defaultdict):
            def __missing__(self, count):
                return []

        if isinstance(getattr(shell.history_manager, "outputs", None), defaultdict):
            shell.history_manager.outputs = Nothing(list)

    # What subprocesses write arrives in pieces that may end within a character.
    def whole_characters():
        import _thread
        import codecs
        import os
        import threading
        import types

        def copy(stream, read, original, ended):
            decode = codecs.getincrementaldecoder("utf-8")("replace").decode
            try:
                while data := os.read(read, 1 << 16):
                    if not stream._should_watch:
                        break
                    if text := decode(data):
                        stream.write(text)
                    os.write(original, data)
            except Exception:
                pass  # nobody is left to be told
            finally:
                ended.set()

        for stream, fd in ((sys.stdout, 1), (sys.stderr, 2)):
            if getattr(stream, "_should_watch", False):
                read, write = os.pipe()
                os.dup2(write, fd)
                os.close(write)
                ended = threading.Event()
                # No Thread: programs that list theirs see none of ours.
                _thread.start_new_thread(copy, (stream, read, stream._original_stdstream_copy, ended))
                # The stream waits for its end when it is closed.
                stream.watch_fd_thread = types.SimpleNamespace(join=ended.wait, is_alive=lambda e=ended: not e.is_set())

    # What !commands write is decoded in pieces, too. IPython runs them with spawnb
    # where pexpect has one, which its present versions do not.
    def whole_characters_of_commands():
        plain = shell.system

        def spawn_whole():
            import codecs

            import pexpect
            from IPython.utils.encoding import DEFAULT_ENCODING

            if hasattr(pexpect, "spawnb") or codecs.lookup(DEFAULT_ENCODING).name != "utf-8":
                return

            class Spawn(pexpect.spawn):
                def __init__(self, *args, **options):
                    self._characters = codecs.getincrementaldecoder("utf-8")("replace")
                    super().__init__(*args, **options)

                def read_nonblocking(self, *args, **options):
                    try:
                        read = super().read_nonblocking(*args, **options)
                    except pexpect.EOF:
                        if rest := self._characters.decode(b"", final=True):
                            return rest.encode()
                        raise
                    return self._characters.decode(read).encode()

            pexpect.spawnb = Spawn

        def system(command):
            spawn_whole()
            return plain(command)

        shell.system = system

    # A crash says where it was, where the service finds it.
    def crash_report():
        import faulthandler

        faulthandler.enable(getattr(sys.stderr, "_original_stdstream_copy", sys.__stderr__), all_threads=False)

    # Numbers that JSON does not know are null, without a warning on stderr.
    def standard_json():
        import json
        import math

        from jupyter_client.jsonutil import json_default

        usual = kernel.session.pack

        def standard(value):
            if isinstance(value, float):
                return value if math.isfinite(value) else None
            if isinstance(value, dict):
                return {k: standard(v) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                return [standard(v) for v in value]
            return value

        def pack(value):
            try:
                text = json.dumps(value, default=json_default, ensure_ascii=False, allow_nan=False)
            except ValueError:
                try:
                    text = json.dumps(standard(value), default=json_default, ensure_ascii=False, allow_nan=False)
                except (TypeError, ValueError, RecursionError):
                    return usual(value)
            except TypeError:
                return usual(value)
            try:
                return text.encode("utf-8")
            except UnicodeEncodeError:
                # Half of a surrogate pair is no character.
                return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")

        kernel.session.pack = pack

    # Charts and tables as data, beside their pictures and text.
    def data_formats():
        from IPython.core.formatters import BaseFormatter
        from traitlets import ObjectName, Unicode

        most_cells = 1_000_000

        def plain(value):
            if value is None or isinstance(value, (bool, int, str)):
                return value
            if isinstance(value, float):
                return value if value - value == 0 else None
            if hasattr(value, "isoformat"):
                text = value.isoformat()
                return None if text == "NaT" else text
            if hasattr(value, "item"):
                try:
                    return plain(value.item())
                except (TypeError, ValueError):
                    pass
            text = str(value)
            return None if text in ("<NA>", "NaT") else text

        class Data(BaseFormatter):
            format_type = Unicode("e2b/data")
            print_method = ObjectName("_repr_e2b_data_")
            _return_type = (dict, str)

            def __call__(self, obj):
                pandas = sys.modules.get("pandas")
                frame = getattr(pandas, "DataFrame", None)
                if frame is None or not isinstance(obj, frame):
                    return super().__call__(obj)
                if obj.size > most_cells:
                    return None
                try:
                    return {
                        str(name): [plain(v) for v in obj.iloc[:, i].tolist()] for i, name in enumerate(obj.columns)
                    }
                except Exception:
                    return None

        class Chart(BaseFormatter):
            format_type = Unicode("e2b/chart")
            print_method = ObjectName("_repr_e2b_chart_")
            _return_type = (dict, str)

            def __call__(self, obj):
                figure = getattr(sys.modules.get("matplotlib.figure"), "Figure", None)
                if figure is None or not isinstance(obj, figure):
                    return super().__call__(obj)
                import warnings

                try:
                    from e2b_charts import chart_figure_to_dict
                except ImportError:
                    return None
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # they are the extractor's own, not of the user's code
                        return chart_figure_to_dict(obj) or None
                except Exception:
                    # There is a chart, of a kind that e2b_charts cannot read.
                    return {"type": "unknown", "title": obj.get_suptitle() or None, "elements": []}

        formatter = shell.display_formatter
        for kind in (Data, Chart):
            made = kind(parent=formatter)
            formatter.formatters[made.format_type] = made
            if formatter.active_types and made.format_type not in formatter.active_types:
                formatter.active_types = [*formatter.active_types, made.format_type]

    parts = (
        slow_down,
        forget_outputs,
        whole_characters,
        whole_characters_of_commands,
        crash_report,
        standard_json,
        data_formats,
    )
    for part in parts:
        try:
            part()
        except Exception as e:
            print("sandbox prelude:", part.__name__, repr(e), file=sys.__stderr__)


_sandbox_prelude()
del _sandbox_prelude
