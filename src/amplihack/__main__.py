"""`python -m amplihack` is `amplihack`."""

import sys

from amplihack.cli.main import main

sys.exit(main())
