import { type ApiOperation, list, nothing, PAGES, SESSION, text } from './api-operation.ts'
import { ref } from './schemas.ts'

const ARTIFACT = `${SESSION}/artifacts/{name}`

/** Operations about the artifacts of a session. */
export const ARTIFACT_OPERATIONS: readonly ApiOperation[] = [
  {
    method: 'get',
    path: `${SESSION}/artifacts`,
    id: 'listArtifacts',
    summary: 'The names of the artifacts.',
    query: PAGES,
    answer: list(text),
  },
  {
    method: 'post',
    path: `${SESSION}/artifacts`,
    id: 'saveArtifact',
    summary: 'Saves a new version of an artifact.',
    body: ref('NewArtifact'),
    answer: ref('ArtifactVersion'),
  },
  {
    method: 'get',
    path: ARTIFACT,
    id: 'getArtifact',
    summary: 'The latest version of an artifact, or another one.',
    query: { version: 'A number from 0, or `latest`.' },
    answer: ref('Part'),
  },
  {
    method: 'delete',
    path: ARTIFACT,
    id: 'deleteArtifact',
    summary: 'Deletes all versions of an artifact.',
    answer: nothing,
  },
  {
    method: 'get',
    path: `${ARTIFACT}/versions`,
    id: 'listArtifactVersions',
    summary: 'The numbers of the versions.',
    answer: list({ type: 'integer' }),
  },
  {
    method: 'get',
    path: `${ARTIFACT}/versions/{version}`,
    id: 'getArtifactVersion',
    summary: 'One version of an artifact.',
    answer: ref('Part'),
  },
  {
    method: 'get',
    path: `${ARTIFACT}/versions/metadata`,
    id: 'listArtifactMetadata',
    summary: 'All versions, without content.',
    answer: list(ref('ArtifactVersion')),
  },
  {
    method: 'get',
    path: `${ARTIFACT}/versions/{version}/metadata`,
    id: 'getArtifactMetadata',
    summary: 'One version, without content.',
    answer: ref('ArtifactVersion'),
  },
]
