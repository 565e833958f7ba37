import { expect, test } from 'vitest'
import { mentionsIn } from './mentions.ts'

function found(text: string, kind: string): unknown[] {
  const mentions = mentionsIn(text, Date.UTC(2025, 2, 12))
  return mentions.filter((one) => one.kind === kind).map(({ value }) => value)
}

test.each([
  ['quoted', "Say \"hello there\" and 'it's me'", ['hello there', "it's me"]],
  ['quoted', 'Say “hello” or «salut» or `code`', ['hello', 'salut', 'code']],
  ['quoted', "It's Bob's and Ann's", []],
  ['url', 'See https://example.com/a?b=1#c, or (www.example.org).', ['https://example.com/a?b=1#c', 'www.example.org']],
  ['email', 'Write to a.b+c@example.co.uk.', ['a.b+c@example.co.uk']],
  ['path', 'Read ./src/a.ts, notes.md and /var/log/x', ['./src/a.ts', 'notes.md', '/var/log/x']],
  ['path', 'e.g. at 5 p.m. it is 3.5', []],
  ['id', 'ORD-123, A7, #42 and INV_2024-9', ['ORD-123', 'A7', '42', 'INV_2024-9']],
  ['id', 'the 3rd at 5pm, 20km, mp3', []],
  ['phone', 'Call +47 123 45 678 or 555-123-4567', ['+47 123 45 678', '555-123-4567']],
  ['tag', 'Tell @ada in #general', ['@ada', '#general']],
  ['currency', '$5 in euros or NOK', ['USD', 'EUR', 'NOK']],
  ['language', 'from french to German', ['French', 'German']],
  [
    'name',
    'Is Ada Lovelace in Rio de Janeiro or at the Bank of Norway?',
    ['Ada Lovelace', 'Rio de Janeiro', 'Bank of Norway'],
  ],
  ['name', "I'm in Oslo. Pay Alice. What is Bob's?", ['Oslo', 'Alice', 'Bob']],
  ['name', 'from San Francisco, CA to Boston, Lima and Cairo', ['San Francisco, CA', 'Boston', 'Lima', 'Cairo']],
  ['path', 'the repository acme/widgets and/or he/she', ['acme/widgets']],
  ['name', 'Dr. Smith and St. Moritz', ['Dr. Smith', 'St. Moritz']],
  ['expression', 'What is 2 * (3 + 4)?', ['2 * (3 + 4)']],
])('%s in: %s', (kind, text, values) => expect(found(text, kind)).toEqual(values))

test('what one kind has found another leaves alone', () => {
  const mentions = mentionsIn('Read "Oslo 12 tomorrow"', 0)
  expect(mentions.filter(({ kind }) => kind !== 'quoted')).toEqual([])
})
