import type { Ports } from '../base/ports.ts'
import { callback, type OptionRules } from './check-options.ts'

/** Of the option `ports`, wherever there is one. */
export const PORT_RULES: OptionRules<Ports> = {
  now: callback,
  monotonicNow: callback,
  setTimer: callback,
  random: callback,
  newId: callback,
}
