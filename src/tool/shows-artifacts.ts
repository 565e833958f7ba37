/** Marks a tool that takes `artifact_names` and shows those files to the model: descriptions of files name it. */
export const SHOWS_ARTIFACTS: unique symbol = Symbol.for('toolwright.showsArtifacts')
