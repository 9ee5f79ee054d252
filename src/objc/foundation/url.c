// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// url.c: NSURL: a URL's text as it was given, percent-encoded, and the URL that
// it is relative to.
//
// Source  RFC 3986, whose sections are named below
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/foundation/url_text.h"

typedef struct url {
  struct objc_object object;
  id text;  // +1
  id base;  // +1, an NSURL or nil
} url;

extern struct objc_class OBJC_CLASS_$_NSURL;

static id absolute_text(id self) {
  const url *of = (url *)self;
  url_parts parts = url_split(string_utf8(of->text));
  if (!of->base || parts.scheme.at) {
    return of->text;
  }
  // section 5.2.2
  const url_parts base = url_split(string_utf8(absolute_text(of->base)));
  parts.scheme = base.scheme;
  if (!parts.authority.at) {
    parts.authority = base.authority;
    if (!parts.path.length) {
      parts.path = base.path;
      parts.query = parts.query.at ? parts.query : base.query;
      return url_joined(&parts);
    }
    if (*parts.path.at != '/') {
      size_t folder = base.path.length;
      while (folder && base.path.at[folder - 1] != '/') {
        --folder;
      }
      const char *between = !folder && base.authority.at ? "/" : "";
      parts.path = url_whole(
          string_make_printf("%.*s%s%.*s", (int)folder, base.path.at, between,
                             (int)parts.path.length, parts.path.at));
    }
  }
  parts.path = url_whole(url_without_dots(parts.path));
  return url_joined(&parts);
}

static url_parts absolute_parts(id self) {
  return url_split(string_utf8(absolute_text(self)));
}

// --- Making ------------------------------------------------------------------

static id init_parts(id self, id text, id base) {
  ((url *)self)->text = SEND(id(*)(id, SEL), text, "copy");
  ((url *)self)->base = objc_retain(base);
  return self;
}

static id make(id text, id base) {
  return objc_autorelease(init_parts(CREATE(NSURL), text, base));
}

static id url_init_relative(id self, SEL _cmd, id text, id base) {
  (void)_cmd;
  if (!text) {
    objc_release(self);
    return NULL;
  }
  return init_parts(self, url_encoded(string_utf8(text), url_character, true),
                    base);
}

static id url_init_string(id self, SEL _cmd, id text) {
  return url_init_relative(self, _cmd, text, NULL);
}

static bool is_folder(const char *path) {
  struct stat found;
  return !stat(path, &found) && S_ISDIR(found.st_mode);
}

static id folder_url(void) {
  char path[PATH_MAX];
  const char *found = getcwd(path, sizeof path) ? path : "";
  return make(string_make_printf(
                  "file://%s/",
                  string_utf8(url_encoded(found, url_path_character, false))),
              NULL);
}

// Initialises a file URL. A relative path is relative to base, or to the
// current directory if base is nil.
static id init_path(id self, id path, bool names_folder, id base) {
  if (!path) {
    exception_raise("NSInvalidArgumentException",
                    "-[NSURL initFileURLWithPath:]: the path is nil");
  }
  const char *utf8 = string_utf8(path);
  const size_t bytes = strlen(utf8);
  const bool is_absolute = *utf8 == '/';
  const id coded = url_encoded(utf8, url_path_character, false);
  const char *text = string_utf8(coded);
  const bool needs_slash = names_folder && (!bytes || utf8[bytes - 1] != '/');
  // "./a:b", since "a:" would be a scheme (section 4.2)
  const char *before = is_absolute                   ? "file://"
                       : !bytes || strchr(text, ':') ? "./"
                                                     : "";
  return init_parts(self,
                    string_make_printf("%s%s%s", before, text,
                                       needs_slash && bytes ? "/" : ""),
                    is_absolute ? NULL
                    : base      ? base
                                : folder_url());
}

static id url_init_file(id self, SEL _cmd, id path) {
  (void)_cmd;
  return init_path(self, path, is_folder(string_utf8(path)), NULL);
}

static id url_init_directory(id self, SEL _cmd, id path,
                             signed char names_folder) {
  (void)_cmd;
  return init_path(self, path, names_folder, NULL);
}

static id url_init_file_relative(id self, SEL _cmd, id path, id base) {
  (void)_cmd;
  const id made = init_path(self, path, false, base);
  url *of = (url *)made;
  const id found = url_decoded(absolute_parts(made).path);
  const char *text = string_utf8(of->text);
  if (is_folder(string_utf8(found)) && *text && text[strlen(text) - 1] != '/') {
    objc_release(of->text);
    of->text = string_create(string_utf8(string_make_printf("%s/", text)));
  }
  return made;
}

static id url_with_file(Class self, SEL _cmd, id path) {
  return objc_autorelease(
      url_init_file(SEND(id(*)(id, SEL), self, "alloc"), _cmd, path));
}

static id url_with_directory(Class self, SEL _cmd, id path,
                             signed char names_folder) {
  return objc_autorelease(url_init_directory(
      SEND(id(*)(id, SEL), self, "alloc"), _cmd, path, names_folder));
}

static id url_with_file_relative(Class self, SEL _cmd, id path, id base) {
  return objc_autorelease(url_init_file_relative(
      SEND(id(*)(id, SEL), self, "alloc"), _cmd, path, base));
}

static id url_with_relative(Class self, SEL _cmd, id text, id base) {
  return objc_autorelease(
      url_init_relative(SEND(id(*)(id, SEL), self, "alloc"), _cmd, text, base));
}

static id url_with_string(Class self, SEL _cmd, id text) {
  return url_with_relative(self, _cmd, text, NULL);
}

static void url_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((url *)self)->text);
  objc_release(((url *)self)->base);
  instance_dispose(self);
}

// --- Parts -------------------------------------------------------------------

// Returns a path as NSURL tells it: decoded, without a slash at its end.
static id told_path(part path) {
  while (path.length > 1 && path.at[path.length - 1] == '/') {
    --path.length;
  }
  return url_decoded(path);
}

static id url_path(id self, SEL _cmd) {
  (void)_cmd;
  return told_path(absolute_parts(self).path);
}

static id url_relative_path(id self, SEL _cmd) {
  (void)_cmd;
  return told_path(url_split(string_utf8(((url *)self)->text)).path);
}

static id url_string(id self, SEL _cmd) {
  (void)_cmd;
  return absolute_text(self);
}

static id url_relative_string(id self, SEL _cmd) {
  (void)_cmd;
  return ((url *)self)->text;
}

static id url_base(id self, SEL _cmd) {
  (void)_cmd;
  return ((url *)self)->base;
}

static id url_absolute(id self, SEL _cmd) {
  (void)_cmd;
  return ((url *)self)->base ? make(absolute_text(self), NULL) : self;
}

static id url_description(id self, SEL _cmd) {
  const url *of = (url *)self;
  return of->base
             ? string_make_printf("%s -- %s", string_utf8(of->text),
                                  string_utf8(url_description(of->base, _cmd)))
             : of->text;
}

static int url_is_file(id self, SEL _cmd) {
  (void)_cmd;
  const part scheme = absolute_parts(self).scheme;
  return scheme.length == 4 && !strncasecmp(scheme.at, "file", 4);
}

static int url_names_folder(id self, SEL _cmd) {
  (void)_cmd;
  const part path = absolute_parts(self).path;
  return path.length && path.at[path.length - 1] == '/';
}

static const char *url_system(id self, SEL _cmd) {
  return string_utf8(url_path(self, _cmd));
}

static int url_get_system(id self, SEL _cmd, char *out, NSUInteger capacity) {
  const char *path = url_system(self, _cmd);
  const size_t bytes = strlen(path) + 1;
  if (bytes > capacity) {
    return 0;
  }
  memcpy(out, path, bytes);
  return 1;
}

static id text_of(part of) {
  return of.at ? string_make_bytes(of.at, of.length) : NULL;
}

static id url_scheme(id self, SEL _cmd) {
  (void)_cmd;
  return text_of(absolute_parts(self).scheme);
}

static id url_query(id self, SEL _cmd) {
  (void)_cmd;
  return text_of(absolute_parts(self).query);
}

static id url_fragment(id self, SEL _cmd) {
  (void)_cmd;
  return text_of(absolute_parts(self).fragment);
}

static id url_specifier(id self, SEL _cmd) {
  (void)_cmd;
  const char *text = string_utf8(absolute_text(self));
  const part scheme = url_split(text).scheme;
  return string_make(text + (scheme.at ? scheme.length + 1 : 0));
}

typedef struct authority {
  part user, password, host, port;
} authority;

// Takes "user:password@host:port" apart (section 3.2); a host in brackets has
// colons of its own.
static authority authority_of(id self) {
  part all = absolute_parts(self).authority;
  authority found = {0};
  const char *at = all.length ? memchr(all.at, '@', all.length) : NULL;
  if (at) {
    found.user = (part){all.at, (size_t)(at - all.at)};
    const char *colon = memchr(all.at, ':', found.user.length);
    if (colon) {
      found.user.length = (size_t)(colon - all.at);
      found.password = (part){colon + 1, (size_t)(at - colon) - 1};
    }
    all.length -= (size_t)(at - all.at) + 1;
    all.at = at + 1;
  }
  found.host = all.length ? all : (part){0};
  const char *bracket = all.length ? memrchr(all.at, ']', all.length) : NULL;
  const char *colon = all.length ? memrchr(all.at, ':', all.length) : NULL;
  if (colon && colon > bracket) {
    found.host.length = (size_t)(colon - all.at);
    found.port = (part){colon + 1, all.length - found.host.length - 1};
  }
  return found;
}

static id url_host(id self, SEL _cmd) {
  (void)_cmd;
  part host = authority_of(self).host;
  if (host.length > 1 && host.at[0] == '[' && host.at[host.length - 1] == ']') {
    host = (part){host.at + 1, host.length - 2};  // an address of IPv6
  }
  return url_decoded(host);
}

static id url_user(id self, SEL _cmd) {
  (void)_cmd;
  return url_decoded(authority_of(self).user);
}

static id url_password(id self, SEL _cmd) {
  (void)_cmd;
  return text_of(authority_of(self).password);
}

static id url_port(id self, SEL _cmd) {
  (void)_cmd;
  const part port = authority_of(self).port;
  return port.length ? number_make_integer(strtol(port.at, NULL, 10)) : NULL;
}

static id url_last(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), url_path(self, NULL), "lastPathComponent");
}

static id url_extension(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), url_path(self, NULL), "pathExtension");
}

static id url_components(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), url_path(self, NULL), "pathComponents");
}

// --- Others by it ------------------------------------------------------------

// Returns the URL with another path; scheme, query and base stay.
static id with_path(id self, id path) {
  const url *of = (url *)self;
  url_parts parts = url_split(string_utf8(of->text));
  parts.path = url_whole(path);
  return make(url_joined(&parts), of->base);
}

static part own_path(id self) {
  return url_split(string_utf8(((url *)self)->text)).path;
}

static id url_append_directory(id self, SEL _cmd, id more,
                               signed char names_folder) {
  (void)_cmd;
  part path = own_path(self);
  const char *added =
      string_utf8(url_encoded(string_utf8(more), url_path_character, false));
  while (path.length && path.at[path.length - 1] == '/') {
    --path.length;
  }
  const bool is_relative = !own_path(self).length && ((url *)self)->base;
  added += is_relative ? 0 : strspn(added, "/");
  const size_t bytes = strlen(added);
  const bool ends = bytes && added[bytes - 1] == '/';
  return with_path(self,
                   string_make_printf("%.*s%s%s%s", (int)path.length, path.at,
                                      is_relative ? "" : "/", added,
                                      names_folder && !ends ? "/" : ""));
}

static id url_append(id self, SEL _cmd, id more) {
  const id made = url_append_directory(self, _cmd, more, 0);
  return url_is_file(made, _cmd) && is_folder(url_system(made, _cmd))
             ? url_append_directory(self, _cmd, more, 1)
             : made;
}

// Returns the length of a path without slashes at its end.
static size_t trimmed(part path) {
  while (path.length > 1 && path.at[path.length - 1] == '/') {
    --path.length;
  }
  return path.length;
}

static id url_without_last(id self, SEL _cmd) {
  (void)_cmd;
  const part path = own_path(self);
  size_t length = trimmed(path);
  if (length == 1 && *path.at == '/') {
    return with_path(self, string_make("/../"));
  }
  while (length && path.at[length - 1] != '/') {
    --length;
  }
  return with_path(
      self, length ? string_make_bytes(path.at, length) : string_make("./"));
}

static id url_without_extension(id self, SEL _cmd) {
  (void)_cmd;
  const part path = own_path(self);
  const size_t length = trimmed(path);
  const char *dot = length ? memrchr(path.at, '.', length) : NULL;
  const bool has_one = dot && dot > path.at && dot[-1] != '/' &&
                       dot + 1 < path.at + length &&
                       !memchr(dot, '/', (size_t)(path.at + length - dot));
  return has_one ? with_path(self,
                             string_make_printf(
                                 "%.*s%.*s", (int)(dot - path.at), path.at,
                                 (int)(path.length - length), path.at + length))
                 : self;
}

static id url_with_extension(id self, SEL _cmd, id extension) {
  (void)_cmd;
  const part path = own_path(self);
  const size_t length = trimmed(path);
  return with_path(
      self,
      string_make_printf("%.*s.%s%.*s", (int)length, path.at,
                         string_utf8(url_encoded(string_utf8(extension),
                                                 url_path_character, false)),
                         (int)(path.length - length), path.at + length));
}

static id url_standardized(id self, SEL _cmd) {
  (void)_cmd;
  url_parts parts = absolute_parts(self);
  parts.path = url_whole(url_without_dots(parts.path));
  return make(url_joined(&parts), NULL);
}

static id url_standardized_path(id self, SEL _cmd) {
  return url_is_file(self, _cmd) ? url_standardized(self, _cmd) : self;
}

static id url_resolved(id self, SEL _cmd) {
  return url_is_file(self, _cmd)
             ? url_with_file(&OBJC_CLASS_$_NSURL, _cmd,
                             SEND(id(*)(id, SEL), url_path(self, NULL),
                                  "stringByResolvingSymlinksInPath"))
             : self;
}

static int url_is_equal(id self, SEL _cmd, id other) {
  const url *one = (url *)self, *two = (url *)other;
  return other && other->isa == self->isa &&
         string_equals(one->text, two->text) &&
         (one->base == two->base ||
          (one->base && url_is_equal(one->base, _cmd, two->base)));
}

static NSUInteger url_hash(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(NSUInteger(*)(id, SEL), ((url *)self)->text, "hash");
}

static id url_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(
    url_methods, METHOD("initFileURLWithPath:", "@24@0:8@16", url_init_file),
    METHOD("initFileURLWithPath:isDirectory:", "@28@0:8@16B24",
           url_init_directory),
    METHOD("initFileURLWithPath:relativeToURL:", "@32@0:8@16@24",
           url_init_file_relative),
    METHOD("initWithString:", "@24@0:8@16", url_init_string),
    METHOD("initWithString:relativeToURL:", "@32@0:8@16@24", url_init_relative),
    METHOD("dealloc", "v16@0:8", url_dealloc),
    METHOD("path", "@16@0:8", url_path),
    METHOD("relativePath", "@16@0:8", url_relative_path),
    METHOD("absoluteString", "@16@0:8", url_string),
    METHOD("relativeString", "@16@0:8", url_relative_string),
    METHOD("absoluteURL", "@16@0:8", url_absolute),
    METHOD("baseURL", "@16@0:8", url_base),
    METHOD("description", "@16@0:8", url_description),
    METHOD("isFileURL", "B16@0:8", url_is_file),
    METHOD("hasDirectoryPath", "B16@0:8", url_names_folder),
    METHOD("fileSystemRepresentation", "*16@0:8", url_system),
    METHOD("getFileSystemRepresentation:maxLength:", "B32@0:8*16Q24",
           url_get_system),
    METHOD("scheme", "@16@0:8", url_scheme),
    METHOD("resourceSpecifier", "@16@0:8", url_specifier),
    METHOD("host", "@16@0:8", url_host), METHOD("user", "@16@0:8", url_user),
    METHOD("password", "@16@0:8", url_password),
    METHOD("port", "@16@0:8", url_port), METHOD("query", "@16@0:8", url_query),
    METHOD("fragment", "@16@0:8", url_fragment),
    METHOD("lastPathComponent", "@16@0:8", url_last),
    METHOD("pathExtension", "@16@0:8", url_extension),
    METHOD("pathComponents", "@16@0:8", url_components),
    METHOD("URLByAppendingPathComponent:", "@24@0:8@16", url_append),
    METHOD("URLByAppendingPathComponent:isDirectory:", "@28@0:8@16B24",
           url_append_directory),
    METHOD("URLByDeletingLastPathComponent", "@16@0:8", url_without_last),
    METHOD("URLByDeletingPathExtension", "@16@0:8", url_without_extension),
    METHOD("URLByAppendingPathExtension:", "@24@0:8@16", url_with_extension),
    METHOD("standardizedURL", "@16@0:8", url_standardized),
    METHOD("URLByStandardizingPath", "@16@0:8", url_standardized_path),
    METHOD("URLByResolvingSymlinksInPath", "@16@0:8", url_resolved),
    METHOD("isEqual:", "B24@0:8@16", url_is_equal),
    METHOD("hash", "Q16@0:8", url_hash),
    METHOD("copyWithZone:", "@24@0:8^v16", url_copy));
METHODS(
    url_class_methods, METHOD("fileURLWithPath:", "@24@0:8@16", url_with_file),
    METHOD("fileURLWithPath:isDirectory:", "@28@0:8@16B24", url_with_directory),
    METHOD("fileURLWithPath:relativeToURL:", "@32@0:8@16@24",
           url_with_file_relative),
    METHOD("URLWithString:", "@24@0:8@16", url_with_string),
    METHOD("URLWithString:relativeToURL:", "@32@0:8@16@24", url_with_relative));
DEFINE_CLASS(NSURL, NSObject, sizeof(url), url_methods, &url_class_methods);
