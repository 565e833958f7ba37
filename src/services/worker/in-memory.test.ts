import { InMemoryWorkerService } from 'toolwright'
import { workerServiceSuite } from 'toolwright/testing'
import { test } from 'vitest'

workerServiceSuite(test, ({ monotonicNow }) => new InMemoryWorkerService({ monotonicNow }))
