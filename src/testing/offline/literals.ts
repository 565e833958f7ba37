// What is recognised by its looks: quotes, addresses, files, ids, sums.
import type { Mention, MentionKind } from './mention.ts'

const quotes: readonly RegExp[] = [
  /"([^"\n]{1,4000})"/g,
  /“([^”\n]{1,4000})”/g,
  /«([^»\n]{1,4000})»/g,
  /`([^`\n]{1,4000})`/g,
  /(?<![\p{L}\p{N}])‘([^’\n]{1,4000})’/gu,
  /(?<![\p{L}\p{N}])'([^'\n]{1,1000}(?:'\p{L}[^'\n]{0,1000}){0,20})'(?![\p{L}\p{N}])/gu,
]

export function quotesIn(text: string): Mention[] {
  return quotes.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 0: whole, 1: inner = '', index }) => ({
      kind: 'quoted',
      value: inner.trim(),
      start: index,
      end: index + whole.length,
    })),
  )
}

export function addressesIn(text: string): Mention[] {
  return [
    ...matches('url', text, /\bhttps?:\/\/[^\s<>"'`]{1,2000}[^\s<>"'`.,;:!?)\]]/gi),
    ...matches('email', text, /(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?<![.-])/gi),
    ...matches(
      'url',
      text,
      /\bwww\.[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?:\/[^\s<>"'`]{0,500}[^\s<>"'`.,;:!?)])?/gi,
    ),
  ]
}

export function pathsIn(text: string): Mention[] {
  const absolute = /(?<![\w./~-])(?:~|\.{1,2})?\/(?:[\w.-]{1,100}\/){0,30}[\w.-]{0,100}\w\/?/g
  const domain = /(?<![\w./@-])(?:[a-z0-9-]{1,63}\.){1,8}(?:com|org|net|io|dev|edu|gov)(?![\w/@-])/gi
  const file = /(?<![\w./@-])(?:[\w-]{1,100}\/){0,20}[\w-]{1,100}(?:\.\w{1,10}){0,3}\.[a-z]{1,4}\d?(?![\w/@])/gi
  const folder = /(?<![\w./~-])[\w-]{1,100}(?:\/[\w-]{1,100}){0,20}\/(?!\w)/g
  const inside = /(?<![\w./~-])[a-z][\w-]{2,100}(?:\/[\w-]{3,100}){1,20}(?![\w/])/gi // owner/repository, not he/she
  const paths = [absolute, file, folder, inside].flatMap((pattern) => matches('path', text, pattern))
  const isOther = /^(?:(?:\p{L}\.)+\p{L}|\d+(?:\.\d+)*[a-z]?)$/iu // e.g., 3.5k
  return [...matches('url', text, domain), ...paths.filter(({ value }) => !isOther.test(String(value)))]
}

/** `ORD-123`, `A7`, `#42`, UUIDs: letters and digits together, so that it is neither a word nor a number. */
export function idsIn(text: string): Mention[] {
  const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
  const code =
    /(?<![\p{L}\p{N}_.@-])#?(?=[\w-]{0,40}\d)(?:[A-Z][\w-]{0,60}|[a-z]{1,10}[-_][\w-]{1,60}|\d{1,10}[A-Z]{0,5}-[A-Z\d][\w-]{0,60})(?<![-_])(?![\p{L}\p{N}_])/gu
  const ids = [...matches('id', text, uuid), ...matches('id', text, code), ...matches('id', text, /#\d{1,20}\b/g)]
  return ids
    .map((id) => ({ ...id, value: String(id.value).replace(/^#/, '') }))
    .filter(({ value }) => /\d/.test(value) && /\p{L}|^\d+$/u.test(value) && !/^\d+-\d+$/.test(value))
}

/** `+47 123 45 678`, `555-1234`: at least seven digits, not a plain number. */
export function phonesIn(text: string): Mention[] {
  const grouped = /(?<![\w+.,-])(?:\+\d[\d ().-]{5,18}\d|\(?\d{2,4}\)?[ -]\d{2,4}(?:[ -]\d{2,4}){0,3})(?![\w-])/g
  return matches('phone', text, grouped).filter(({ value }) => String(value).replace(/\D/g, '').length >= 7)
}

/** `#general`, `@ada` */
export function tagsIn(text: string): Mention[] {
  return matches('tag', text, /(?<![\w#@])[#@][a-z][\w-]{1,60}/gi)
}

/** Sums as calculators take them: numbers and operators, at least one of each. */
export function expressionsIn(text: string): Mention[] {
  const sum =
    /(?<![\w.])[-(]{0,5}\d[\d.,]{0,30}\){0,5}%?(?:\s?[-+*/^×÷%]\s?[-(]{0,5}\d[\d.,]{0,30}(?<![.,])\){0,5}){1,40}(?![\w/])/g
  return matches('expression', text, sum).filter(
    ({ value }) => !/^\d+[-/.]\d+([-/.]\d+)?$/.test(String(value)) || /[+*]/.test(String(value)),
  )
}

function matches(kind: MentionKind, text: string, pattern: RegExp): Mention[] {
  return [...text.matchAll(pattern)].map(({ 0: whole, index }) => ({
    kind,
    value: whole,
    start: index,
    end: index + whole.length,
  }))
}
