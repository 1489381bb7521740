/* inflate -- the data of a page: JSON, gzipped, in base64. */

/* Newer than the compiler's own list of what browsers have. */
declare const DecompressionStream: new (format: string) =>
    ReadableWritablePair<Uint8Array, Uint8Array>;

export async function inflate<T>(base64: string): Promise<T> {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(plain).text()) as T;
}
