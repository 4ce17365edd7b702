/** Templates that loop, grow, nest and recurse: each ends, none throws, none takes much memory. */
import { describe, expect, test } from 'vitest'
import { detectDialect } from '../src/index.ts'

const repeated = (count: number, text: (nth: number) => string): string =>
  Array.from({ length: count }, (_, nth) => text(nth)).join('')

const loop = (depth: number, body: string): string =>
  repeated(depth, (nth) => `{% for v${nth} in range(16000) %}`) +
  body +
  repeated(depth, () => '{% endfor %}')

/** Doubles a string until it has 2 to the power of `times` characters. */
const doubled = (times: number): string =>
  `{% set s = 'x' %}${repeated(times, () => '{% set s = s ~ s %}')}`

const HOSTILE: Readonly<Record<string, string>> = {
  'loops in loops': loop(6, ''),
  'loops in loops that write': loop(6, 'x'),
  'a range of a thousand million': '{% for i in range(1000000000) %}{% endfor %}',
  'a list that doubles': `{% set a = [1] %}${repeated(60, () => '{% set a = a + a %}')}`,
  'a string that doubles': doubled(60),
  'a list that holds itself twice, again and again': `{% set a = ['x'] %}${repeated(60, () => '{% set a = [a, a] %}')}{{ a | tojson }}`,
  'an object that does so': `{% set a = {} %}${repeated(60, () => "{% set a = {'l': a, 'r': a} %}")}{{ a }}`,
  'a namespace that holds itself': `{% set n = namespace() %}{% set n.a = [n, n] %}{{ n.a | tojson }}`,
  'lists that grow behind their backs': `${repeated(40, (nth) => `{% set n${nth} = namespace(v=0) %}{% set l${nth} = [n${nth}, n${nth}] %}`)}${repeated(39, (nth) => `{% set n${nth + 1}.v = l${nth} %}`)}{{ l39 | tojson }}`,
  'a macro that calls itself': '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}',
  'a macro that calls itself twice, to a depth':
    '{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(50) }}',
  'macros made in a loop': `${loop(2, '{% macro f() %}x{% endmacro %}')}${' x'.repeat(50_000)}`,
  'replace, as a method': `${doubled(17)}{{ s.replace('x', s) }}`,
  'replace, by a computed name': `${doubled(17)}{{ s['rep' + 'lace']('x', s) }}`,
  'replace, kept in a variable': `${doubled(17)}{% set r = s.replace %}{{ r('', s) }}`,
  'replace, as a filter': `${doubled(17)}{{ s | replace('x', s) }}`,
  'replace, as a block': `${doubled(17)}{% filter replace('x', s) %}{{ s }}{% endfilter %}`,
  'join with a long separator': `${doubled(17)}{{ range(16000) | join(s) }}`,
  'join with a long separator by name': `${doubled(17)}{{ range(16000) | join(separator=s) }}`,
  'indent by a thousand million': `{{ 'a\\nb\\nc' | indent(1000000000) }}`,
  'indent of many lines': `{% set s = 'x\\n' %}${repeated(16, () => '{% set s = s ~ s %}')}{{ s | indent(5000) }}`,
  'tojson with a wide indent': `{{ range(16000) | tojson(indent=100000) }}`,
  'tojson with long separators': `${doubled(17)}{{ range(16000) | tojson(separators=(s, s)) }}`,
  'arguments that are unpacked': `${doubled(17)}{{ range(16000) | join(*[s]) }}`,
  'brackets without end': `{{ ${'('.repeat(100_000)}`,
  'blocks without end': '{% if true %}'.repeat(10_000),
  'white space without end': `a${' '.repeat(200_000)}{% generation %}`,
  'white space here and there': `a${' '.repeat(1_000)}{{ 1 }}`.repeat(200),
  'more characters than a template may have': 'x'.repeat(262_145),
  'as many characters as it may have': `{{ messages | tojson }}${'{x}'.repeat(80_000)}`,
}

/** Cases that are broken or harmless as well; they need only end. */
const OTHERS = [
  'arguments that are unpacked',
  'white space here and there',
  'as many characters as it may have',
]

describe('a hostile template', () => {
  test.each(Object.entries(HOSTILE))('%s', { timeout: 60_000 }, (name, template) => {
    const detection = detectDialect(template)
    expect(detection.found).toBe(false)
    expect(JSON.stringify(detection).length).toBeLessThan(10_000)
    if (!OTHERS.includes(name)) expect(detection).toMatchObject({ reason: 'limit' })
  })
})
