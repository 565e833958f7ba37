// Everyday words that mean nearly the same: a small hand-written list is all the understanding there is.
import { stem } from './words.ts'

const groups = `
  weather temperature warm warmer cold colder hot forecast degree sunny rain rainy snow windy wind climate
  search find look lookup google browse
  add put append insert
  create make new
  delete remove erase
  email mail
  message sms chat ping
  meeting appointment event calendar agenda schedule
  book reserve reservation
  buy purchase order
  parcel package shipment delivery
  pay transfer wire
  charge invoice bill
  light lamp bulb
  turn switch
  thermostat heating heater
  translate translation
  todo task reminder remind
  subscribe register enroll sign
  note memo jot
  file document
  music song track album
  money currency cash exchange
  calculate calculator compute math sum plus minus times divide multiply add subtract
  price cost
  stock share ticker
  distance far
  convert converter conversion change
  define meaning mean definition
  news headline
  summary summarise summarize
  movie film
  customer client
  flight fly plane
  hotel accommodation
  contact phone
  people person guest party attendee diner
  city town place location
  photo picture image draw paint
  alarm wake timer
`

const conceptOf: ReadonlyMap<string, readonly string[]> = byStem()

/** The groups a stem belongs to. */
export function concepts(stem: string): readonly string[] {
  return conceptOf.get(stem) ?? none
}

/** Do two stems mean nearly the same? */
export function areNear(a: string, b: string): boolean {
  return a === b || concepts(a).some((concept) => concepts(b).includes(concept))
}

const none: readonly string[] = []

function byStem(): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [at, group] of groups.trim().split('\n').entries()) {
    for (const word of group.trim().split(/\s+/)) {
      const key = stem(word)
      found.set(key, [...(found.get(key) ?? []), `~${at}`])
    }
  }
  return found
}
