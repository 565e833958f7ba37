import { InMemoryScheduleService } from 'toolwright'
import { scheduleServiceSuite } from 'toolwright/testing'
import { test } from 'vitest'

scheduleServiceSuite(test, () => new InMemoryScheduleService())
