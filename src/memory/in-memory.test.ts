import { test } from 'vitest'
import { memoryServiceSuite } from '../testing/memory-suite.ts'
import { InMemoryMemoryService } from './in-memory.ts'

memoryServiceSuite(test, () => new InMemoryMemoryService())
