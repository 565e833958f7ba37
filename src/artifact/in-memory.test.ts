import { test } from 'vitest'
import { artifactServiceSuite } from '../testing/artifact-suite.ts'
import { InMemoryArtifactService } from './in-memory.ts'

artifactServiceSuite(test, ({ now }) => new InMemoryArtifactService({ now }))
