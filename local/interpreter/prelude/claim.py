def _sandbox_claim(env, gone):
    import os
    import random
    import sys
    import time

    for name in gone:
        os.environ.pop(name, None)
    os.environ.update(env)
    time.tzset()
    random.seed()
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed()
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile._name_sequence = None
        tempfile.tempdir = None
    uuid = sys.modules.get("uuid")
    if uuid is not None:
        uuid._node = uuid._last_timestamp = None


