#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes programs for `heliox-bench-graph` at N = 2^14: programs.py DIRECTORY. One ciphertext comes in, plaintexts are
materials. Of each the calls that need nothing of each other are many or few:

diagonals  a matrix of 16 diagonals times a vector: rotations one by one, products, a tree of sums, one rescale
powers     x^2 to x^8 by products as early as they can be, a polynomial of them
neurons    8 weighted copies of x, each summed over 16 slots by 4 rotations, squared, summed
"""
import sys

HEAD = ('!ckks.{}<batch = [], components = {}, depth = 0, scale = "2^40", primes = [0, 1, 2, 3, 4, 5, 6, 7], '
        'basis = Q, domain = ntt, repr = standard, slots = 8192>')
X, W, ANY = HEAD.format('ciphertext', 2), HEAD.format('plaintext', 1), '!ckks.ciphertext<>'


class Program:
    def __init__(self):
        self.lines = []

    def add(self, op, operands, attrs='', result=ANY):
        name = f'%v{len(self.lines)}'
        types = ', '.join(t for _, t in operands)
        self.lines.append(f'    {name} = "{op}"({", ".join(v for v, _ in operands)}){attrs} : ({types}) -> {result}')
        return (name, result)

    def material(self, name):
        return self.add('material.ref', [], f' {{symbol = @{name}}}', W)

    def rotate(self, a, step):
        return self.add('ckks.rotate', [a], f' {{step = {step} : i64}}')

    def product(self, a, b=None):
        wide = self.add('ckks.mul', [a, b]) if b is not None else self.add('ckks.square', [a])
        down = self.add('ckks.rescale', [self.add('ckks.relinearize', [wide])])
        return self.add('ckks.reinterpret_scale', [down], ' {scale = "2^40"}')

    def total(self, values):
        while len(values) > 1:
            values = [self.add('ckks.add', values[i:i + 2]) if i + 1 < len(values) else values[i]
                      for i in range(0, len(values), 2)]
        return values[0]

    def down(self, a, depth):
        return self.add('ckks.level_drop', [a], f' {{depth = {depth} : i64}}')

    def write(self, path, result):
        with open(path, 'w') as f:
            f.write('"builtin.module"() ({\n  "func.func"() ({\n' + f'  ^entry(%x: {X}):\n' + '\n'.join(self.lines) +
                    f'\n    "func.return"({result[0]}) : ({result[1]}) -> ()\n  }}) {{\n    sym_name = "main",\n'
                    f'    function_type = ({X}) -> {ANY},\n'
                    '    arg_attrs = [{heliox.name = "x", heliox.role = "ciphertext"}],\n'
                    '    res_attrs = [{heliox.name = "result", heliox.role = "ciphertext"}]\n'
                    '  } : () -> ()\n}) {heliox.version = 1 : i64, heliox.params = "n14-d7-s40"} : () -> ()\n')


def diagonals(path):
    p = Program()
    x = ('%x', X)
    turned = [x] + [p.rotate(x, step) for step in range(1, 16)]
    products = [p.add('ckks.mul_plain', [v, p.material(f'w{i}')]) for i, v in enumerate(turned)]
    p.write(path, p.add('ckks.rescale', [p.total(products)]))


def powers(path):
    p = Program()
    x = ('%x', X)
    x2 = p.product(x)
    x4, x3 = p.product(x2), p.product(x2, p.down(x, 1))
    x8 = p.product(x4)
    x5, x6, x7 = p.product(x4, p.down(x, 2)), p.product(x4, p.down(x2, 2)), p.product(x4, x3)
    x = p.down(x, 3)
    terms = [x, p.down(x2, 3), p.down(x3, 3), p.down(x4, 3), x5, x6, x7, x8]
    p.write(path, p.total([p.add('ckks.mul_integer', [t], f' {{integer = {i + 2} : i64}}') for i, t in enumerate(terms)]))


def neurons(path):
    p = Program()
    x = ('%x', X)
    squares = []
    for i in range(8):
        v = p.add('ckks.rescale', [p.add('ckks.mul_plain', [x, p.material(f'w{i}')])])
        for step in (8, 4, 2, 1):
            v = p.add('ckks.add', [v, p.rotate(v, step)])
        squares.append(p.product(v))
    p.write(path, p.total(squares))


def main():
    for name, make in (('diagonals', diagonals), ('powers', powers), ('neurons', neurons)):
        make(f'{sys.argv[1]}/{name}.mlir')


if __name__ == '__main__':
    main()
