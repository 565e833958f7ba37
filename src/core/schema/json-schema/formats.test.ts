import { describe, expect, test } from 'vitest'
import { compileSchema } from '../compile.ts'
import { formatCheck } from './formats.ts'

const longLabel = 'a'.repeat(63)

const table: [format: string, valid: string[], invalid: string[]][] = [
  [
    'date',
    ['2024-02-29', '2000-02-29', '1999-12-31'],
    ['2023-02-29', '1900-02-29', '2024-13-01', '2024-00-01', '2024-04-31', '24-01-01', '2024-1-1', ''],
  ],
  [
    'time',
    ['12:00:00Z', '23:59:59.999z', '08:30:06+00:20', '23:59:60Z', '01:29:60+01:30', '15:59:60-08:00'],
    ['12:00:00', '24:00:00Z', '12:60:00Z', '12:00:61Z', '22:59:60Z', '12:00:00+24:00', '12:00Z', '1:00:00Z'],
  ],
  [
    'date-time',
    ['2024-01-01T00:00:00Z', '2024-01-01t00:00:00.5z', '2024-01-01 00:00:00+01:00', '1998-12-31T23:59:60Z'],
    ['2024-01-01', '2024-01-01T25:00:00Z', '2024-02-30T00:00:00Z', '2024-01-01T00:00:00', '2024-01-01X00:00:00Z'],
  ],
  [
    'duration',
    ['P1D', 'P4W', 'PT1H', 'P1Y2M3DT4H5M6S', 'P1M', 'PT1M'],
    ['', 'P', 'PT', 'P1DT', 'P2D1Y', 'P1D2H', 'P1W2D', 'PT1D', 'P1Y2D', '1D'],
  ],
  [
    'uri',
    [
      'http://example.com',
      'https://u:p@example.com:8080/a/b?c=d#e',
      'mailto:a@b.c',
      'urn:isbn:1',
      'tel:+1-816-555-1212',
      'ldap://[2001:db8::7]/c=GB?x?one',
      'http://a/%20',
      'http://[v1.a:b]/',
      'data:text/plain;base64,AA==',
    ],
    [
      '//foo.bar/?baz',
      '/abc',
      'abc',
      'http:// a',
      '://x',
      'http://a/%zz',
      'http://[1::2::3]/',
      'http://a:8x/',
      'bar,baz:foo',
      '\\\\WINDOWS\\f',
      'http://a/"',
      '1http://a',
      '',
    ],
  ],
  [
    'uri-reference',
    ['http://example.com', '//foo.bar/?baz', '/abc', 'abc', '#frag', '?q', '', '../x', './a:b'],
    ['\\\\WINDOWS\\f', '#a b', 'a b', '#ragm\\ent', 'a:b c', '%zz'],
  ],
  [
    'uri-template',
    ['http://example.com/{id}', '{?q,page*}', '{/path:10}', '{a.b}', 'plain', '{%41}'],
    ['{', '}', '{a', '{a,}', '{x:0}', '{x:10000}', '{}', 'x y', '{a..b}'],
  ],
  [
    'url',
    [
      'http://example.com',
      'https://u:p@example.com:8080/x?y#z',
      'ftp://a-b.example',
      'http://8.8.8.8:80/x',
      'http://مثال.إختبار',
      'http://xn--bcher-kva.example/',
      'HTTP://EXAMPLE.COM',
    ],
    [
      'http://localhost',
      'http://10.0.0.1',
      'http://127.0.0.1',
      'http://192.168.0.1',
      'http://172.16.0.1',
      'http://169.254.1.1',
      'http://100.64.0.1',
      'http://8.8.8.255',
      'http://-a.com',
      'http://a-.com',
      'http://example.com:8',
      'mailto:a@b.c',
      'http://exa mple.com',
      'http://',
      'http://x.y1',
      'example.com',
    ],
  ],
  [
    'email',
    [
      'ann@example.com',
      'a.b+c@example.co.uk',
      '"a b"@example.com',
      '"joe@bloggs"@example.com',
      'a@[127.0.0.1]',
      'a@[IPv6:::1]',
      'te~st@example.com',
    ],
    [
      'ann',
      '@example.com',
      'ann@',
      '.a@b.c',
      'a.@b.c',
      'a..b@c.d',
      'a b@c.d',
      'a@b@c',
      'a@-b.c',
      'a@b..c',
      'a@[127.0.0.300]',
      `${'a'.repeat(65)}@b.c`,
    ],
  ],
  [
    'hostname',
    ['example.com', 'localhost', 'a-b.c', `${longLabel}.com`, 'xn--4gbwdl.xn--wgbh1c'],
    ['-a.com', 'a-.com', 'a_b.com', `${longLabel}a.com`, 'a..b', 'a.', '', ' ', `${`${longLabel}.`.repeat(4)}com`],
  ],
  [
    'ipv4',
    ['127.0.0.1', '0.0.0.0', '255.255.255.255'],
    ['256.1.1.1', '1.1.1', '1.1.1.1.1', '01.1.1.1', '1.1.1.1.', '1.1.1.1\n', '0x7f.1.1.1', ''],
  ],
  [
    'ipv6',
    [
      '::1',
      '::',
      '1::',
      '1:2:3:4:5:6:7:8',
      '::ffff:192.168.0.1',
      '1:2:3:4:5:6:1.2.3.4',
      '::2:3:4:5:6:7:8',
      '2001:DB8::1',
    ],
    [
      '1:2:3:4:5:6:7',
      '1::2::3',
      '12345::',
      ':1',
      '1:',
      ':::',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4::5:6:7:8',
      '::1.2.3.4.5',
      '1.2.3.4::',
      'fe80::a%en1',
      'g::',
      '',
    ],
  ],
  ['regex', ['^a$', '[a-z]+', '\\p{L}', '(a)\\1', ''], ['(', '\\Z', '\\a', '[b-a]', 'a{2,1}', '\\p{Nope}']],
  [
    'uuid',
    ['2eb8aa08-aa98-11ea-b4aa-73b441d16380', '2EB8AA08-AA98-11EA-B4AA-73B441D16380'],
    [
      '2eb8aa08aa9811eab4aa73b441d16380',
      '2eb8aa08-aa98-11ea-b4aa-73b441d1638',
      '2eb8aa08-aa98-11ea-b4aa-73b441d1638g',
      '',
    ],
  ],
  ['json-pointer', ['', '/', '/a~0/b~1/0', '//'], ['a', '/~', '/~2', '#/a']],
  ['json-pointer-uri-fragment', ['#', '#/a%20b', '#/a~1'], ['', '/a', '#a', '#/a b', '#/~', '#/%zz']],
  ['relative-json-pointer', ['0', '1/a', '0#', '2/a~1b'], ['', '01', '-1', '0##', '1a', '/a', '0/~']],
]

describe.each(table)('the format %s', (format, valid, invalid) => {
  const check = (text: string) => formatCheck(format)?.(text)

  test('accepts valid texts and refuses invalid ones', () => {
    for (const text of valid) expect([text, check(text)]).toEqual([text, true])
    for (const text of invalid) expect([text, check(text)]).toEqual([text, false])
  })

  // Only guards against a hang: a backtracking expression would take hours on each of these.
  test('checks 100,000 hostile characters in linear time', { timeout: 20_000 }, () => {
    const units = [
      'a',
      '1',
      '-',
      '.',
      '/',
      '%',
      '@',
      ':',
      '{',
      '~',
      'a.',
      'a-',
      '::',
      '%41',
      '{a}',
      '{a,',
      '"',
      '(',
      '\\p{L}',
      'T',
      ' ',
    ]
    const starts = ['', valid[0] ?? '', valid.at(-1) ?? '', 'http://', 'a@', 'P']
    for (const start of starts)
      for (const unit of units)
        for (const end of ['', '!', '\n']) {
          const text = start + unit.repeat(100_000 / unit.length) + end
          expect(typeof check(text)).toBe('boolean')
        }
  })
})

test('an unknown format accepts every text', () => {
  expect(formatCheck('color')).toBeUndefined()
  expect(compileSchema({ type: 'string', format: 'constructor' }, 'Tool "t"').parse('x')).toEqual({ value: 'x' })
})
