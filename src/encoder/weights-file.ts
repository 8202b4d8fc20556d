/** The file of the encoder, as `scripts/make-encoder.ts` writes it: a header, the compiled kernel, the vocabulary, the weights. */
export const FILE_NAME = 'all-minilm-l6-v2.bin'
/** Size of the header, in bytes. */
export const HEADER_BYTES = 128

const MAGIC = 'CPENCODE'
const FORMAT = 1
/** Where the texts of the header stand, and how long they may be. */
const MODEL_AT = 32
const RECIPE_AT = 64
const TEXT_BYTES = { model: 32, recipe: 64 }

/** The header of the file. */
export interface WeightsHeader {
  /** Names weights and pooling: at most 32 ASCII characters. */
  readonly model: string
  /** SHA-256 of what the file was made from, as hex. */
  readonly recipe: string
  /** CRC-32 of everything after the header. */
  readonly crc: number
  readonly kernelBytes: number
  readonly vocabularyBytes: number
  readonly weightsBytes: number
}

/** Size of the whole file, in bytes. */
export function fileBytes({ kernelBytes, vocabularyBytes, weightsBytes }: WeightsHeader): number {
  return HEADER_BYTES + kernelBytes + vocabularyBytes + weightsBytes
}

/** The header as bytes. */
export function writeHeader(header: WeightsHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.write(MAGIC, 'latin1')
  const numbers = [FORMAT, header.crc, header.kernelBytes, header.vocabularyBytes, header.weightsBytes]
  for (const [place, number] of numbers.entries()) bytes.writeUInt32LE(number, MAGIC.length + place * 4)
  bytes.write(header.model, MODEL_AT, TEXT_BYTES.model, 'latin1')
  bytes.write(header.recipe, RECIPE_AT, TEXT_BYTES.recipe, 'latin1')
  return bytes
}

/** Reads a header. @throws Error when the bytes are none, or of another format */
export function readHeader(bytes: Buffer): WeightsHeader {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('it is not a file of the encoder')
  const numbers = Array.from({ length: 5 }, (_, place) => bytes.readUInt32LE(MAGIC.length + place * 4))
  const [format, crc = 0, kernelBytes = 0, vocabularyBytes = 0, weightsBytes = 0] = numbers
  if (format !== FORMAT) throw new Error(`it has format ${format}, not ${FORMAT}`)
  const readText = (at: number, length: number) => bytes.toString('latin1', at, at + length).replace(/\0+$/, '')
  return {
    model: readText(MODEL_AT, TEXT_BYTES.model),
    recipe: readText(RECIPE_AT, TEXT_BYTES.recipe),
    crc,
    kernelBytes,
    vocabularyBytes,
    weightsBytes,
  }
}
