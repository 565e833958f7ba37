// Currencies and languages by name: what people say and what tools take are rarely the same word.
import type { Mention } from './mention.ts'
import { tokensOf } from './words.ts'

const currencyNames = `
  USD dollar dollars bucks; EUR euro euros; GBP pound pounds sterling; JPY yen; CNY yuan renminbi; INR rupee rupees; CHF franc francs;
  NOK krone kroner; SEK krona kronor; DKK; CAD; AUD; NZD; BRL real reais; MXN peso pesos; KRW won; PLN zloty; TRY lira; ZAR rand; PEN; EGP; BTC bitcoin
`
const languageNames = `
  en English; fr French; de German; es Spanish; it Italian; pt Portuguese; nl Dutch; sv Swedish; no Norwegian; da Danish; fi Finnish;
  pl Polish; cs Czech; ru Russian; uk Ukrainian; tr Turkish; el Greek; ar Arabic; he Hebrew; hi Hindi; zh Chinese Mandarin; ja Japanese;
  ko Korean; vi Vietnamese; th Thai; id Indonesian; hu Hungarian; ro Romanian; is Icelandic; la Latin
`
const symbols: ReadonlyMap<string, string> = new Map([
  ['$', 'USD'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['¥', 'JPY'],
  ['₹', 'INR'],
])

const currencyOf = index(currencyNames, true)
const languageOf = index(languageNames, false)

/** Currencies, by their three letters. */
export function currenciesIn(text: string): Mention[] {
  const found: Mention[] = []
  for (const { text: word, lower, start, end } of tokensOf(text)) {
    const code = currencyOf.get(lower)
    const isCode = code !== undefined && lower === code.toLowerCase()
    if (code !== undefined && !(isCode && /^\p{Ll}/u.test(word) && lower === 'try'))
      found.push({ kind: 'currency', value: code, start, end })
  }
  for (const { 0: symbol, index: start } of text.matchAll(/[$€£¥₹]/g))
    found.push({ kind: 'currency', value: symbols.get(symbol) ?? symbol, start, end: start + 1 })
  return found
}

/** Languages, by their English names. */
export function languagesIn(text: string): Mention[] {
  return tokensOf(text)
    .filter(({ lower }) => languageOf.has(lower) && lower.length > 2)
    .map(({ lower, start, end }) => ({
      kind: 'language',
      value: lower.charAt(0).toUpperCase() + lower.slice(1),
      start,
      end,
    }))
}

/** The two letters of a language. */
export function languageCode(name: string): string | undefined {
  return languageOf.get(name.toLowerCase())
}

function index(text: string, withCode: boolean): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const entry of text.split(';')) {
    const [code = '', ...names] = entry.trim().split(/\s+/)
    if (withCode) found.set(code.toLowerCase(), code)
    for (const name of names) found.set(name.toLowerCase(), code)
  }
  return found
}
