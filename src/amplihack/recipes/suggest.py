from amplihack.documents.suggest import closest as closest
from amplihack.documents.suggest import distance as distance
