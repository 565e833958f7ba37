import { dirname } from 'node:path'
import type ts from 'typescript-classic'
import type { TypeScript } from '../compiler/find-compiler.ts'
import { findProject, type ParsedConfigs, type ProjectSettings } from './find-project.ts'
import { Project } from './project.ts'
import { SourceFiles } from './source-files.ts'

/** The projects of all files that were read in this process. */
export class Projects {
  readonly #ts: TypeScript
  readonly #files: SourceFiles
  readonly #projects = new Map<string, Project>()
  readonly #configs: ParsedConfigs = new Map()
  /** The settings by file, because finding them looks into all folders above it. */
  readonly #settings = new Map<string, ProjectSettings>()

  constructor(ts: TypeScript) {
    this.#ts = ts
    this.#files = new SourceFiles(ts)
  }

  /** The program that contains a file with this text, and the settings of its project. */
  programFor(file: string, text: string): { program: ts.Program; settings: ProjectSettings } {
    this.#files.setText(file, text)
    const settings = this.#settings.get(file) ?? findProject(this.#ts, file, this.#configs)
    this.#settings.set(file, settings)
    // without a tsconfig.json, each folder is a project
    const key = settings.configFile ?? dirname(file)
    const project = this.#projects.get(key) ?? new Project(this.#ts, settings, this.#files)
    this.#projects.set(key, project)
    return { program: project.programFor(file), settings }
  }
}
