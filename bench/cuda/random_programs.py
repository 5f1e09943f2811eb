#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random programs for `heliox diff`: random_programs.py DIRECTORY COUNT [SEED].

Values of one depth have one scale: products are of values of the same depth and are rescaled at once. Every program
uses each kind of operation that it draws; the last value is the result."""
import random
import sys

HEAD = ('!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], '
        'basis = Q, domain = ntt, repr = standard, slots = 8192>')
ANY = '!ckks.ciphertext<>'


class Program:
    def __init__(self, rng):
        self.rng, self.lines, self.values = rng, [], [('%x', 0, HEAD), ('%y', 0, HEAD)]

    def add(self, op, operands, depth, attrs='', results=1):
        name = f'%v{len(self.lines)}'
        types = ', '.join(v[2] for v in operands)
        result = ANY if results == 1 else '(' + ', '.join([ANY] * results) + ')'
        left = name if results == 1 else f'{name}:{results}'
        self.lines.append(f'    {left} = "{op}"({", ".join(v[0] for v in operands)}){attrs} : ({types}) -> {result}')
        out = [(name if results == 1 else f'{name}#{i}', depth, ANY) for i in range(results)]
        return out

    def pick(self, depth=None):
        fitting = [v for v in self.values if depth is None or v[1] == depth]
        return self.rng.choice(fitting[-3:])  # recent ones, so that little is dead

    def draw(self):
        rng, a = self.rng, self.pick()
        step = rng.choice([1, 2, 3, 7, 100, 4096, -5])
        kind = rng.choice(['add', 'sub', 'neg', 'integer', 'scalar', 'rotate', 'conjugate', 'many', 'sum', 'mul', 'square'])
        if kind in ('add', 'sub'):
            self.values += self.add('ckks.' + kind, [a, self.pick(a[1])], a[1])
        elif kind == 'neg':
            self.values += self.add('ckks.neg', [a], a[1])
        elif kind == 'integer':
            self.values += self.add('ckks.mul_integer', [a], a[1], f' {{integer = {rng.randint(-9, 9) or 1} : i64}}')
        elif kind == 'scalar':
            self.values += self.add('ckks.add_scalar', [a], a[1], f' {{value = {rng.uniform(-1, 1):.6e} : f64}}')
        elif kind == 'rotate':
            self.values += self.add('ckks.rotate', [a], a[1], f' {{step = {step} : i64}}')
        elif kind == 'conjugate':
            self.values += self.add('ckks.conjugate', [a], a[1])
        elif kind == 'many':
            self.values += self.add('ckks.rotate_many', [a], a[1], f' {{steps = [0, {step}, 9]}}', 3)
        elif kind == 'sum':
            self.values += self.add('ckks.rotate_sum', [a, self.pick(a[1]), self.pick(a[1])], a[1],
                                    f' {{steps = [{step}, 0, 9]}}')
        elif a[1] < 4:
            product = self.add('ckks.mul', [a, self.pick(a[1])], a[1]) if kind == 'mul' else self.add('ckks.square', [a], a[1])
            relinearized = self.add('ckks.relinearize', product, a[1])
            self.values += self.add('ckks.rescale', relinearized, a[1] + 1)

    def text(self):
        last = self.values[-1]
        return ('"builtin.module"() ({\n  "func.func"() ({\n' + f'  ^entry(%x: {HEAD}, %y: {HEAD}):\n' +
                '\n'.join(self.lines) + f'\n    "func.return"({last[0]}) : ({last[2]}) -> ()\n' +
                f'  }}) {{sym_name = "main", function_type = ({HEAD}, {HEAD}) -> {ANY}}} : () -> ()\n' +
                '}) {heliox.version = 1 : i64, heliox.params = "n14-d7-s40"} : () -> ()\n')


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit('usage: random_programs.py DIRECTORY COUNT [SEED]')
    directory, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else 1
    for i in range(count):
        program = Program(random.Random(seed * 1000 + i))
        for _ in range(8 + i % 16):
            program.draw()
        with open(f'{directory}/random-{i}.mlir', 'w', encoding='ascii') as out:
            out.write(program.text())


main()
