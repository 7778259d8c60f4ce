"""Run `amplihack` as `python -m amplihack`."""

import sys

from amplihack.cli.main import main

sys.exit(main())
