import type { Ports } from '../base/ports.ts'
import { callback, type OptionRules } from './check-options.ts'

/** The rules of every option called `ports`. */
export const PORT_RULES: OptionRules<Ports> = {
  now: callback,
  monotonicNow: callback,
  setTimer: callback,
  random: callback,
  newId: callback,
}
