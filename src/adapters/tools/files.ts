import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, lstat, rename, unlink, type FileHandle } from 'node:fs/promises';
import { LIMITS } from '../../kernel/limits.ts';
import { ToolProblem } from './tool-problem.ts';
import {
  codeOf,
  openFile,
  openFolder,
  ownLike,
  type Folder,
  type Place,
} from './workspace-path.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const CREATE = O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0);
const FILE_MODE = 0o666;
const PERMISSIONS = 0o777;
const CHUNK_BYTES = 65_536;

/** Bytes as text; undefined when they are none. A byte order mark stays, so that it can be written back. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Reads a whole file, at most the bound of a file. Throws `ToolProblem` when it is larger. */
export async function readWhole(handle: FileHandle, shown: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of chunksOf(handle)) {
    total += chunk.length;
    if (total > LIMITS.toolFileBytesMax) {
      throw new ToolProblem('refused', `${shown}: over ${LIMITS.toolFileBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The bytes of a file from its beginning, from this handle alone. */
export async function* chunksOf(handle: FileHandle): AsyncGenerator<Uint8Array> {
  let position = 0;
  while (true) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.alloc(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      position,
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Reads a place as text. Throws `ToolProblem` when it is none. */
export async function readText(place: Place): Promise<string> {
  await using handle = await openFile(place);
  const text = textOf(await readWhole(handle, place.shown));
  if (text === undefined) throw new ToolProblem('refused', `${place.shown}: a binary file`);
  return text;
}

/**
 * Puts `content` in the place of a file, making its folders: after a crash at any point the name
 * stands for the old content or for the new, never for a part.
 */
export async function writeWhole(place: Place, content: string): Promise<void> {
  const name = place.segments.at(-1);
  if (name === undefined) throw new ToolProblem('refused', `${place.shown}: a folder, not a file`);
  const wrong = unwritable(content);
  if (wrong !== undefined) throw new ToolProblem('refused', `${place.shown}: ${wrong}`);
  await using folder = await openFolder(place.root, place.segments.slice(0, -1), true);
  const mode = await modeOfReplaced(folder, name);
  const temporary = `.sekisho-${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeNew(folder, temporary, { content, mode });
    await rename(folder.at(temporary), folder.at(name));
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => undefined);
    throw error;
  }
  await folder.sync();
}

/** What could not be read back as it was given. */
function unwritable(content: string): string | undefined {
  if (!content.isWellFormed()) return 'the content is no well-formed text';
  return Buffer.byteLength(content) > LIMITS.toolFileBytesMax
    ? `the content is over ${LIMITS.toolFileBytesMax} bytes`
    : undefined;
}

async function modeOfReplaced(folder: Folder, name: string): Promise<number | undefined> {
  try {
    const found = await lstat(folder.at(name));
    if (!found.isFile()) throw new ToolProblem('refused', `${name}: not a regular file`);
    return found.mode & PERMISSIONS;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeNew(
  folder: Folder,
  name: string,
  file: { readonly content: string; readonly mode: number | undefined },
): Promise<void> {
  await using handle = await createIn(folder, name);
  if (file.mode !== undefined) await handle.chmod(file.mode);
  await handle.writeFile(file.content);
  await handle.sync();
}

/** Makes a new file in a folder; one that is there already is an error. */
export async function createIn(folder: Folder, name: string): Promise<FileHandle> {
  const handle = await open(folder.at(name), CREATE, FILE_MODE);
  try {
    await ownLike(folder, (uid, gid) => handle.chown(uid, gid));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
