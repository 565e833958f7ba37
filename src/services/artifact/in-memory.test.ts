import { test } from 'vitest'
import { artifactServiceSuite } from '../../adapters/testing/suites/artifact-service-suite.ts'
import { InMemoryArtifactService } from './in-memory.ts'

artifactServiceSuite(test, ({ now }) => new InMemoryArtifactService({ now }))
