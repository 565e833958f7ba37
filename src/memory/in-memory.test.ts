import { test } from 'vitest'
import { memoryServiceSuite } from '../testing/suites/memory-service-suite.ts'
import { InMemoryMemoryService } from './in-memory.ts'

memoryServiceSuite(test, () => new InMemoryMemoryService())
