from amplihack.documents.suggest import closest as closest, distance as distance
