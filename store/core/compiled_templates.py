"""What templates compile to, shared by all environments of a process."""

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class CompiledTemplates(BytecodeCache):
    """Keeps the code of each template once. Of eight languages, seven compile nothing.

    The environments that share it must have the same options and extensions, for each template.
    """

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], object] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Find the code of a template, as long as its source has not changed."""
        bucket.code = self._codes.get((bucket.key, bucket.checksum))  # type: ignore[assignment]

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        self._codes[bucket.key, bucket.checksum] = bucket.code


compiled_templates = CompiledTemplates()
