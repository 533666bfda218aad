"""Work on the machines of a Ray cluster (extra `cluster`): workers that may come and go, and no item that is lost.

The process that asks for work hands items out and takes results back through Ray's object store; the machines share no
disk with it. What a worker did not finish when it died, failed or fell behind is done by another one, and each result
counts once.
"""

from tengen.cluster.cluster import Cluster, Place, Traffic
from tengen.cluster.files import SharedFiles
from tengen.cluster.worker import Work, Worker

__all__ = ["Cluster", "Place", "SharedFiles", "Traffic", "Work", "Worker"]
