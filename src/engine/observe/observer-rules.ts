import { objectWith, type Rule } from '../../core/error/check-options.ts'

/** The rule for the option `observers`. */
export const OBSERVERS: Rule = {
  expects: 'a list of observers, such as [otel()]',
  accepts: (value) => Array.isArray(value) && value.every(objectWith('around').accepts),
}
