"""`python -m tengen` is the command `tengen`."""

import sys

from tengen.cli.app import main

sys.exit(main())
