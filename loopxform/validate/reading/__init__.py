"""From pycparser's tree of a function to statements with their instances.

`Reader` is a chain of classes, each of which adds one idea to what it derives from: `numbers`,
`scopes`, `cells`, `conditions`, `operations`, `places`, `calls`, `evaluation`, `stores`,
`barriers`, `loops`, and in `reader` the statements.
"""
