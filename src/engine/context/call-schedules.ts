import {
  requireScheduling,
  type SchedulingCall,
  type ToolSchedule,
  type ToolScheduleOptions,
  type ToolScheduling,
} from './tool-scheduling.ts'

/** What one attempt of a call schedules. */
export class CallSchedules {
  readonly #call: SchedulingCall
  readonly #scheduling: ToolScheduling | undefined
  /** How many schedules the attempt has created: another attempt gives the same ones the same keys. */
  #count = 0

  constructor(call: SchedulingCall, scheduling: ToolScheduling | undefined) {
    this.#call = call
    this.#scheduling = scheduling
  }

  /** Stores a schedule. */
  async create(options: ToolScheduleOptions): Promise<ToolSchedule> {
    const call = { ...this.#call, key: `${this.#call.key}/${++this.#count}` }
    return await requireScheduling(this.#scheduling).schedule(call, options)
  }

  /** Deletes a schedule. */
  async delete(id: string): Promise<boolean> {
    return await requireScheduling(this.#scheduling).unschedule(this.#call, id)
  }
}
