import type { TextFormat } from './check-scalar.ts'

/** The type of an input for a text. */
export type InputType = NonNullable<TextFormat['input']> | 'text'

const SHOWN: { readonly [Type in InputType]?: RegExp } = {
  date: /^(\d{4}-\d\d-\d\d)?$/,
  time: /^(\d\d:\d\d(:\d\d)?)?$/,
}

/** The text as an input of this type shows it; undefined if it cannot. An input for a time shows that of this browser's time zone. */
export function toInput(type: InputType, text: string): string | undefined {
  if (type !== 'datetime-local' || text === '') return SHOWN[type]?.test(text) === false ? undefined : text
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) return undefined
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace(/:00$/, '')
}

/** The text to send for what is typed into an input of this type. A time is sent in UTC. */
export function fromInput(type: InputType, typed: string): string {
  const ms = type === 'datetime-local' ? Date.parse(typed) : Number.NaN
  return Number.isNaN(ms) ? typed : new Date(ms).toISOString().replace('.000', '')
}
