# Read as configuration by kernels that are made of ipykernel but run another
# language, so that a slow client loses nothing of what they publish.
import zmq
from ipykernel.kernelapp import IPKernelApp

_init = IPKernelApp.init_iopub


def _init_iopub(self, context):
    _init(self, context)
    socket = self.iopub_thread.socket

    def keep_all():
        socket.setsockopt(zmq.XPUB_NODROP, 1)
        socket.setsockopt(zmq.SNDHWM, 256)

    self.iopub_thread.schedule(keep_all)


IPKernelApp.init_iopub = _init_iopub
