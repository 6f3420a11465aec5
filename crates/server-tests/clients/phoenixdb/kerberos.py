"""What phoenixdb imports for Kerberos, which nothing here uses: the packages need Kerberos's own headers to be built."""

import sys
import types


class OID:
    @staticmethod
    def from_int_seq(numbers):
        return numbers


class HTTPSPNEGOAuth:
    def __init__(self, **options):
        self.options = options


def stand_in():
    """Makes the modules that phoenixdb imports, before it does so."""
    sys.modules["gssapi"] = types.SimpleNamespace(OID=OID)
    sys.modules["requests_gssapi"] = types.SimpleNamespace(HTTPSPNEGOAuth=HTTPSPNEGOAuth, OPTIONAL=2)
