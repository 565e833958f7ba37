// The keywords that need no other schema: type, const, enum, and the limits of numbers and strings.
import { spendWork, type WorkBudget } from '../work-budget.ts'
import { identityOf } from './same-value.ts'
import { type NumberRules, type SchemaNode, type StringRules, TYPE_BITS } from './schema-node.ts'
import { reportFailure, type Validation } from './validation.ts'

/** The type of a value as bits of `TYPE_BITS`; 0 for a value that JSON cannot hold. */
export function typeOfValue(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return TYPE_BITS.string
    case 'number':
      if (Number.isInteger(value)) return TYPE_BITS.number | TYPE_BITS.integer
      return Number.isFinite(value) ? TYPE_BITS.number : 0
    case 'boolean':
      return TYPE_BITS.boolean
    case 'object':
      return value === null ? TYPE_BITS.null : Array.isArray(value) ? TYPE_BITS.array : TYPE_BITS.object
    default:
      return 0
  }
}

/** Checks the type and the keywords that need no other schema. */
export function checkScalar(node: SchemaNode, value: unknown, type: number, validation: Validation): boolean {
  let valid = true
  if (node.types !== undefined && (node.types & type) === 0) valid = reportFailure(validation, node, 'type')
  if (node.choices && (valid || validation.failures)) {
    const { keyword, simple, compound } = node.choices
    const isChoice =
      typeof value === 'object' && value !== null
        ? compound.size > 0 && compound.has(identityOf(value, validation.work))
        : simple.has(value)
    if (!isChoice) valid = reportFailure(validation, node, keyword)
  }
  if (node.number && typeof value === 'number') valid = checkNumber(node, node.number, value, validation) && valid
  else if (node.string && typeof value === 'string') valid = checkString(node, node.string, value, validation) && valid
  return valid
}

function checkNumber(node: SchemaNode, rules: NumberRules, value: number, validation: Validation): boolean {
  let valid = true
  if (value < rules.minimum) valid = reportFailure(validation, node, 'minimum')
  if (value > rules.maximum) valid = reportFailure(validation, node, 'maximum')
  if (value <= rules.exclusiveMinimum) valid = reportFailure(validation, node, 'exclusiveMinimum')
  if (value >= rules.exclusiveMaximum) valid = reportFailure(validation, node, 'exclusiveMaximum')
  if (rules.multipleOf !== undefined && !isMultiple(value, rules.multipleOf, validation.work))
    valid = reportFailure(validation, node, 'multipleOf')
  return valid
}

function isMultiple(value: number, divisor: number, work: WorkBudget): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0
  // 19.99 is not an exact binary number, so the decimals are compared as they are written.
  spendWork(work, 40)
  const [digits, exponent] = toDecimal(value)
  const [divisorDigits, divisorExponent] = toDecimal(divisor)
  const shift = BigInt(Math.abs(exponent - divisorExponent))
  return exponent >= divisorExponent
    ? (digits * 10n ** shift) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** shift) === 0n
}

/** A number as digits and an exponent: `1.25e-3` is `[125n, -5]`. */
function toDecimal(value: number): [digits: bigint, exponent: number] {
  const [whole = '0', exponent = '0'] = String(value).split('e')
  const [before = '0', after = ''] = whole.split('.')
  return [BigInt(before + after), Number(exponent) - after.length]
}

function checkString(node: SchemaNode, rules: StringRules, value: string, validation: Validation): boolean {
  const { minLength, maxLength, pattern, format } = rules
  const { work } = validation
  const { length } = value
  let valid = true
  // A character has one or two code units, so most texts need no counting.
  if (length < minLength * 2 && (length < minLength || countCharacters(value, work) < minLength))
    valid = reportFailure(validation, node, 'minLength')
  if (length > maxLength && (length > maxLength * 2 || countCharacters(value, work) > maxLength))
    valid = reportFailure(validation, node, 'maxLength')
  if (!valid && !validation.failures) return false
  if (pattern && !pattern.test(value, work)) valid = reportFailure(validation, node, 'pattern')
  if (format && (valid || validation.failures)) {
    spendWork(work, length >> 3)
    if (!format(value)) valid = reportFailure(validation, node, 'format')
  }
  return valid
}

function countCharacters(text: string, work: WorkBudget): number {
  spendWork(work, text.length >> 3)
  let count = 0
  for (let i = 0; i < text.length; i++) {
    if ((text.codePointAt(i) as number) > 0xffff) i++
    count++
  }
  return count
}
